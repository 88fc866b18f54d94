import { inPlaceKeywords, type Schema, schemasIn } from '../../src/openapi/schema-keywords.ts'
import { partsOf } from './schema-parts.ts'
import { schemasDescribing } from './schema-types.ts'
import type { Node } from './walk-document.ts'

/** The direction of a value: from the client (request) or to it (response). */
export type Direction = 'request' | 'response'

/** The annotation that makes a property ignored (OpenAPI 3.0.4 section 4.7.24.1, JSON Schema validation 9.4). */
const markOf = { request: 'readOnly', response: 'writeOnly' } as const

/** Returns whether a schema has an annotation, directly or through a $ref or an allOf. */
export const isMarked = (document: object, schema: Schema, mark: 'readOnly' | 'writeOnly'): boolean =>
  partsOf(document, schema).some((part) => part.schema[mark] === true)

/** Returns the properties that a schema itself names. */
export const propertiesOf = (schema: Node): Record<string, Schema> => Object(schema.properties)

/**
 * Returns a function that finds the names of the properties that are ignored in a direction in every value of a schema.
 * A property of an alternative is included only if all alternatives ignore it. Visits each schema once.
 */
export function ignoredNamesOf(document: object, direction: Direction): (schema: Schema) => Set<string> {
  const known = new Map<Schema, Set<string>>()
  return function ignoredNames(schema) {
    const found = known.get(schema)
    if (found !== undefined) return found
    const names = new Set<string>()
    // Stops the recursion of a schema that is an alternative of itself, which unsupported-schemas.ts rejects.
    known.set(schema, names)
    for (const { schema: part } of partsOf(document, schema)) {
      for (const name of markedNames(document, part, direction)) names.add(name)
      for (const keyword of ['oneOf', 'anyOf']) {
        const branches = schemasIn(part, keyword).map(ignoredNames)
        for (const name of branches[0] ?? []) if (branches.every((branch) => branch.has(name))) names.add(name)
      }
    }
    return names
  }
}

/** Returns the names of a schema's own properties that are ignored in a direction. */
export const markedNames = (document: object, schema: Node, direction: Direction): string[] =>
  Object.entries(propertiesOf(schema)).flatMap(([name, below]) =>
    isMarked(document, below, markOf[direction]) ? [name] : [],
  )

/** Returns a schema and the subschemas that may describe the same value. */
export const inPlace = (document: object, schema: Schema): Node[] =>
  schemasDescribing(document, [schema], inPlaceKeywords)

/** Returns the discriminator properties of some schemas, which are never ignored. */
export const discriminatorNames = (schemas: Node[]): Set<string> =>
  new Set(
    schemas.flatMap(({ discriminator }) => {
      const { propertyName } = Object(discriminator) as { propertyName?: unknown }
      return typeof propertyName === 'string' ? [propertyName] : []
    }),
  )
