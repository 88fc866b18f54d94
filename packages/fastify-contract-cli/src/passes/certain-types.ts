import { type Schema, schemasIn } from 'fastify-contract/contract'
import type { Document } from '../document/openapi-document.ts'
import { commonTypes, partsOf, schemasOfParts } from '../document/schemas.ts'
import { hasAny, mapDocument, type Node } from '../document/walk-document.ts'

/**
 * Returns a document in which `unevaluatedItems` also accepts the items that match a `contains` of the same value, since
 * these count as evaluated (JSON Schema core, section 11.2), and in which a type has null only if the `allOf`, `anyOf`
 * and `oneOf` beside it allow null.
 */
export const withCertainTypes = (document: Document): Document =>
  mapDocument(document, {
    schema(schema) {
      const given = !Array.isArray(schema.type) || mayBeNull(document, schema) ? schema : withoutNull(schema)
      if (!('unevaluatedItems' in given)) return given
      const contained = partsOf(document, given).flatMap((part) => schemasIn(part.schema, 'contains'))
      if (contained.length === 0) return given
      return { ...given, unevaluatedItems: { anyOf: [...schemasIn(given, 'unevaluatedItems'), ...contained] } }
    },
  })

/** Returns whether a schema with a list of types may allow null. Most of them have no other schema beside the list. */
const mayBeNull = (document: Document, schema: Node): boolean =>
  hasAny(schema, ['$ref', 'allOf', 'anyOf', 'oneOf'])
    ? allowsNull(document, schema)
    : (schema.type as unknown[]).includes('null')

/** Returns whether a schema may allow null, as far as its types and those of its direct alternatives tell. */
function allowsNull(document: Document, schema: Schema): boolean {
  const parts = schemasOfParts(partsOf(document, schema))
  const isTyped = (schemas: Node[]) => commonTypes(schemas)?.includes('null') === false
  const hasNull = (one: Schema) => !isTyped(schemasOfParts(partsOf(document, one)))
  return (
    !isTyped(parts) &&
    parts.every((part) =>
      ['anyOf', 'oneOf'].every((keyword) => !(keyword in part) || schemasIn(part, keyword).some(hasNull)),
    )
  )
}

/** Returns a schema without the type null, unless null is its only type. */
export function withoutNull(schema: Node): Node {
  if (!Array.isArray(schema.type)) return schema
  const others = schema.type.filter((type) => type !== 'null')
  return others.length === 0 ? schema : { ...schema, type: others.length === 1 ? others[0] : others }
}
