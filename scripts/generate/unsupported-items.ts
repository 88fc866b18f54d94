import { kindOf } from '../../src/openapi/media-types.ts'
import { join } from './json-pointer.ts'
import type { Endpoint } from './openapi-document.ts'

/** Fields of a media type that describe its items one by one (OpenAPI 3.2 section 4.14). */
const ofItems = ['itemSchema', 'prefixEncoding', 'itemEncoding']

/** Returns one line for each media type of an operation whose items are described in a way that is not served. */
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
  if (field !== 'itemSchema')
    return 'parts without names are not read or written; use multipart/form-data with encoding'
  if (!isReply) return 'a request is not read by its items; describe the whole with schema'
  if (Object.hasOwn(media, 'schema')) return 'stands beside schema; describe the items or the whole'
  if (kindOf(mediaType) !== 'events')
    return `items of ${mediaType} are not written; use application/jsonl or text/event-stream`
  return 'an event may have data, event, id and retry, where only data has more than a type, and only data is required'
}
