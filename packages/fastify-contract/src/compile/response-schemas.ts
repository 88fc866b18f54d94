import { isRange, kindOf } from '../serve/media-types.ts'
import type { Schema } from '../serve/schema-keywords.ts'
import { join, resolve } from './json-pointer.ts'
import { type Document, endpoints, type MediaTypes, type Response } from './openapi-document.ts'
import { schemasDescribing, typesOf } from './schema-types.ts'
import { mapDocument, type Node } from './walk-document.ts'

/**
 * Returns the media types of a response with the schemas that the service validates their bodies against. JSON and each
 * item of a JSON stream have their schema; text has it only if it allows strings alone. Other bodies are not validated.
 */
export const checkedContent = (document: Document, { content = {} }: Response): MediaTypes =>
  Object.fromEntries(
    Object.entries(content).map(([type, { schema }]) => [type, { schema: checkedSchema(document, type, schema) }]),
  )

function checkedSchema(document: object, mediaType: string, schema: Schema = true): Schema {
  if (isRange(mediaType) || ['json', 'events', 'lines'].includes(kindOf(mediaType))) return schema
  return kindOf(mediaType) === 'text' && allowsOnlyStrings(document, schema) ? schema : true
}

/** Returns whether a schema allows strings only. */
export const allowsOnlyStrings = (document: object, schema: Schema): boolean => {
  const { types } = typesOf(document, schema)
  return types.length > 0 && types.every((type) => type === 'string')
}

/**
 * Returns a document in which the schema of a JSON Lines response is that of each item. In the original document an
 * array schema describes the whole body (OpenAPI 3.2 section 4.14.3.1).
 */
export const withItemSchemas = (document: Document): Document =>
  mapDocument(document, {
    response: (response) => {
      if (response.content === undefined) return response
      const content = Object.entries(response.content as Record<string, Node>).map(([mediaType, media]) => {
        const items = kindOf(mediaType) === 'lines' ? itemsOf(document, media.schema) : undefined
        return [mediaType, items === undefined ? media : { ...media, schema: items }]
      })
      return { ...response, content: Object.fromEntries(content) }
    },
  })

function itemsOf(document: Document, schema: unknown): unknown {
  const { type, items, $ref } = Object(schema) as Node
  if (typeof $ref === 'string') return itemsOf(document, resolve(document, $ref))
  return type === 'array' ? items : undefined
}

/** Returns one line for each media type of a response whose schema constrains more than the service validates. */
export function unvalidatedResponses(document: Document): string[] {
  const lines = endpoints(document).flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ content = {}, pointer }) =>
      Object.entries(content)
        .filter(([mediaType, { schema = true }]) => {
          if (checkedSchema(document, mediaType, schema) !== true) return false
          const isFree = schemasDescribing(document, [schema], []).every((each) => Object.keys(each).length === 0)
          return !isFree && !allowsOnlyStrings(document, schema)
        })
        .map(([mediaType]) => `${join(pointer, 'content', mediaType)}: is not validated against its schema`),
    ),
  )
  return [...new Set(lines)]
}
