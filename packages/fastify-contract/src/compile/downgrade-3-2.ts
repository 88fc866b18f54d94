import { kindOf } from '../serve/media-types.ts'
import { eventData } from './event-schemas.ts'
import { resolve } from './json-pointer.ts'
import { mapDocument, type Node } from './walk-document.ts'

/**
 * Returns a document in which the additions of OpenAPI 3.2 that 3.1 can express are written as in 3.1. A $ref to a
 * media type is replaced by its target. The item schema of a JSON Lines response becomes an array schema, and that of
 * an event stream becomes the schema of the events' data. The other additions stay; the generator supports or rejects
 * them later.
 */
export function asWritten31<Document extends object>(document: Document): Document {
  const inPlace = mapDocument(document, { mediaType: (node) => located(document, node) })
  return mapDocument(inPlace, {
    response: ({ content, ...response }) => ({
      ...response,
      ...(content !== undefined && { content: withItems(document, content as Record<string, Node>) }),
    }),
    example: ({ dataValue, ...example }) => ({ ...(dataValue !== undefined && { value: dataValue }), ...example }),
  })
}

function located(document: object, node: Node): Node {
  if (typeof node.$ref !== 'string') return node
  return located(document, resolve(document, node.$ref) as Node)
}

const withItems = (document: object, content: Record<string, Node>): Record<string, Node> =>
  Object.fromEntries(
    Object.entries(content).map(([mediaType, media]) => {
      const { itemSchema, ...rest } = media
      const schema = itemSchema === undefined || 'schema' in rest ? undefined : wholeOf(document, mediaType, itemSchema)
      return [mediaType, schema === undefined ? media : { ...rest, schema }]
    }),
  )

function wholeOf(document: object, mediaType: string, items: unknown): unknown {
  if (kindOf(mediaType) === 'lines') return { type: 'array', items }
  return kindOf(mediaType) === 'events' ? eventData(document, items) : undefined
}
