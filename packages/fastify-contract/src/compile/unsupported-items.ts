import { kindOf } from '../serve/media-types.ts'
import { join } from './json-pointer.ts'
import type { Endpoint } from './openapi-document.ts'

/** Fields of a media type that describe its items one by one (OpenAPI 3.2 section 4.14). */
const ofItems = ['itemSchema', 'prefixEncoding', 'itemEncoding']

/** Returns one line for each media type of an operation whose items are described in an unsupported way. */
export function itemFieldProblems({ requestBody, responses }: Endpoint): string[] {
  const bodies = [
    ...(requestBody === undefined ? [] : [{ ...requestBody, isReply: false }]),
    ...Object.values(responses).map((response) => ({ ...response, isReply: true })),
  ]
  return bodies.flatMap(({ content = {}, pointer, isReply }) =>
    Object.entries(content).flatMap(([mediaType, media]) =>
      ofItems
        .filter((field) => Object.hasOwn(media, field))
        .map(
          (field) => `${join(pointer, 'content', mediaType, field)}: ${problemOf(field, mediaType, isReply, media)}`,
        ),
    ),
  )
}

function problemOf(field: string, mediaType: string, isReply: boolean, media: object): string {
  if (field !== 'itemSchema') return 'parts without names are not supported; use multipart/form-data with encoding'
  if (!isReply) return 'items are not supported in a request; describe the whole body with schema'
  if (Object.hasOwn(media, 'schema'))
    return 'cannot be combined with schema; describe either the items or the whole body'
  if (kindOf(mediaType) !== 'events')
    return `items of ${mediaType} are not supported; use application/jsonl or text/event-stream`
  return 'only data of an event may be required or constrained beyond its type; describe only data, event, id and retry'
}
