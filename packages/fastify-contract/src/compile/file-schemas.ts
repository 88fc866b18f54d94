import { requestKindOf } from '../serve/media-types.ts'
import type { Schema } from '../serve/schema-keywords.ts'
import { branches } from './int64-responses.ts'
import type { Document } from './openapi-document.ts'
import { schemasDescribing } from './schema-types.ts'
import type { Node } from './walk-document.ts'

/** Keywords that do not constrain a value. */
const annotations =
  /^(title|description|default|examples?|deprecated|readOnly|writeOnly|externalDocs|xml|\$comment|x-.*)$/

/** Returns whether a schema does not constrain its values. */
export const isFree = (document: Document, schema: Schema): boolean =>
  schemasDescribing(document, [schema], branches).every((each) =>
    Object.keys(each).every((keyword) => annotations.test(keyword) || keyword === '$ref'),
  )

/**
 * Returns whether a schema describes bytes. OpenAPI 3.0 marks them by the format (section 4.7.14.2), 3.1 by the media
 * type of the content (section 4.8.14.3).
 */
const isBinary = ({ format, contentMediaType, contentEncoding }: Node): boolean =>
  format === 'binary' ||
  (typeof contentMediaType === 'string' && contentEncoding === undefined && requestKindOf(contentMediaType) === 'bytes')

/** Returns whether values of a schema are bytes. */
export const holdsBytes = (document: Document, schema: Schema): boolean =>
  schemasDescribing(document, [schema], branches).some(isBinary)

/** Returns whether a part of a form is a file: by its schema, by its media types, or because nothing constrains it. */
export const isFile = (document: Document, schema: Schema, mediaTypes: string[]): boolean =>
  holdsBytes(document, schema) ||
  (mediaTypes.length > 0 ? mediaTypes.some((each) => requestKindOf(each) === 'bytes') : isFree(document, schema))
