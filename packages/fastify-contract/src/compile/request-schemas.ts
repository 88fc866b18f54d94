import { isRange, requestKindOf } from '../serve/media-types.ts'
import type { Schema } from '../serve/schema-keywords.ts'
import { holdsBytes, isFree } from './file-schemas.ts'
import { join } from './json-pointer.ts'
import { type Document, endpoints, type MediaTypes, type RequestBody } from './openapi-document.ts'
import { allowsOnlyStrings } from './response-schemas.ts'

/**
 * Returns the media types of a request body with the schemas that the service validates it against. Bytes are not
 * validated, and text only if its schema allows strings alone.
 */
export const checkedBody = (document: Document, { content }: RequestBody): MediaTypes =>
  Object.fromEntries(
    Object.entries(content).map(([type, media]) => [
      type,
      isChecked(document, type, media.schema) ? media : { ...media, schema: true },
    ]),
  )

function isChecked(document: Document, mediaType: string, schema: Schema = true): boolean {
  const kind = requestKindOf(mediaType)
  return kind === 'text' ? allowsOnlyStrings(document, schema) : kind !== 'bytes'
}

/** Returns whether a schema describes a body of bytes without constraining it further. */
export const describesBytes = (document: Document, schema: Schema = true): boolean =>
  isFree(document, schema) || holdsBytes(document, schema) || allowsOnlyStrings(document, schema)

/** Returns one line for each media type of a request body whose schema constrains more than the service validates. */
export function unvalidatedBodies(document: Document): string[] {
  const lines = endpoints(document).flatMap(
    ({ requestBody: { content = {}, pointer } = { content: {}, pointer: '' } }) =>
      Object.entries(content)
        .filter(([mediaType, { schema }]) => !isRange(mediaType) && !isChecked(document, mediaType, schema))
        .filter(([, { schema }]) => !describesBytes(document, schema))
        .map(([mediaType]) => `${join(pointer, 'content', mediaType)}: is not validated against its schema`),
  )
  return [...new Set(lines)]
}
