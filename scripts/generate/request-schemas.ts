import { isRange } from '../../src/openapi/media-types.ts'
import { requestKindOf } from '../../src/openapi/request-media.ts'
import type { Schema } from '../../src/openapi/schema-keywords.ts'
import { holdsBytes, isFree } from './file-schemas.ts'
import { join } from './json-pointer.ts'
import { type Document, endpoints, type MediaTypes, type RequestBody } from './openapi-document.ts'
import { isOfTexts } from './reply-schemas.ts'

/** Returns the media types of the body of a request with what it is checked against: bytes, and text of other types, are not. */
export const checkedBody = (document: Document, { content }: RequestBody): MediaTypes =>
  Object.fromEntries(
    Object.entries(content).map(([type, media]) => [
      type,
      isChecked(document, type, media.schema) ? media : { ...media, schema: true },
    ]),
  )

function isChecked(document: Document, mediaType: string, schema: Schema = true): boolean {
  const kind = requestKindOf(mediaType)
  return kind === 'text' ? isOfTexts(document, schema) : kind !== 'bytes'
}

/** Returns whether a schema says of a body of bytes no more than that it is one. */
export const isOfBytes = (document: Document, schema: Schema = true): boolean =>
  isFree(document, schema) || holdsBytes(document, schema) || isOfTexts(document, schema)

/** Returns one line for each media type of the body of a request whose schema says more than the service checks. */
export function uncheckedBodies(document: Document): string[] {
  const lines = endpoints(document).flatMap(
    ({ requestBody: { content = {}, pointer } = { content: {}, pointer: '' } }) =>
      Object.entries(content)
        .filter(([mediaType, { schema }]) => !isRange(mediaType) && !isChecked(document, mediaType, schema))
        .filter(([, { schema }]) => !isOfBytes(document, schema))
        .map(([mediaType]) => `${join(pointer, 'content', mediaType)}: is not checked against its schema`),
  )
  return [...new Set(lines)]
}
