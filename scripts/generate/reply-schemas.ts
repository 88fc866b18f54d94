import { isRange, kindOf } from '../../src/openapi/media-types.ts'
import type { Schema } from '../../src/openapi/schema-keywords.ts'
import { join } from './json-pointer.ts'
import { type Document, endpoints, type MediaTypes, type Response } from './openapi-document.ts'
import { describing, typesOf } from './schema-types.ts'

/**
 * Returns the media types of a response with what their bodies are checked against: JSON against its schema, text against
 * one that describes texts alone. Other bodies leave as their handler gives them.
 */
export const checkedContent = (document: Document, { content = {} }: Response): MediaTypes =>
  Object.fromEntries(
    Object.entries(content).map(([type, { schema }]) => [type, { schema: checkedSchema(document, type, schema) }]),
  )

function checkedSchema(document: object, mediaType: string, schema: Schema = true): Schema {
  if (isRange(mediaType) || kindOf(mediaType) === 'json') return schema
  return kindOf(mediaType) === 'text' && isOfTexts(document, schema) ? schema : true
}

const isOfTexts = (document: object, schema: Schema): boolean => {
  const { types } = typesOf(document, schema)
  return types.length > 0 && types.every((type) => type === 'string')
}

/** Returns one line for each media type of a response whose schema says more than the service checks. */
export function uncheckedReplies(document: Document): string[] {
  const lines = endpoints(document).flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ content = {}, pointer }) =>
      Object.entries(content)
        .filter(([mediaType, { schema = true }]) => {
          const isFree = describing(document, [schema], []).every((each) => Object.keys(each).length === 0)
          return !isFree && !isOfTexts(document, schema) && checkedSchema(document, mediaType, schema) === true
        })
        .map(([mediaType]) => `${join(pointer, 'content', mediaType)}: is not checked against its schema`),
    ),
  )
  return [...new Set(lines)]
}
