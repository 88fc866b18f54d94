import { inPlaceKeywords, type Schema, schemasIn } from '../../src/openapi/schema-keywords.ts'
import { partsOf } from './schema-parts.ts'
import { describing } from './schema-types.ts'
import type { Node } from './walk-document.ts'

/** Which way a value goes: from a client or to one. */
export type Direction = 'request' | 'response'

/** The annotation of a property that does not count one way (OpenAPI 3.0.4 section 4.7.24.1, JSON Schema validation 9.4). */
const markOf = { request: 'readOnly', response: 'writeOnly' } as const

/** Returns whether a schema has an annotation, itself or by what it refers to or holds in an allOf. */
export const isMarked = (document: object, schema: Schema, mark: 'readOnly' | 'writeOnly'): boolean =>
  partsOf(document, schema).some((part) => part.schema[mark] === true)

/** Returns the properties that a schema itself describes. */
export const propertiesOf = (schema: Node): Record<string, Schema> => Object(schema.properties)

/**
 * Returns what finds the names of the properties that do not count one way in any value of a schema: those of an
 * alternative only where every alternative has them. Each schema is looked at once.
 */
export function ignoredNamesOf(document: object, direction: Direction): (schema: Schema) => Set<string> {
  const known = new Map<Schema, Set<string>>()
  return function ignoredNames(schema) {
    const found = known.get(schema)
    if (found !== undefined) return found
    const names = new Set<string>()
    // A schema that is an alternative of itself is refused elsewhere.
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

/** Returns the names of the properties of a schema itself that do not count one way. */
export const markedNames = (document: object, schema: Node, direction: Direction): string[] =>
  Object.entries(propertiesOf(schema)).flatMap(([name, below]) =>
    isMarked(document, below, markOf[direction]) ? [name] : [],
  )

/** Returns the schemas that may describe one value together with a schema: itself and those of its branches. */
export const inPlace = (document: object, schema: Schema): Node[] => describing(document, [schema], inPlaceKeywords)

/** Returns the names of the properties by which discriminators tell some schemas apart: these count both ways. */
export const discriminatorNames = (schemas: Node[]): Set<string> =>
  new Set(
    schemas.flatMap(({ discriminator }) => {
      const { propertyName } = Object(discriminator) as { propertyName?: unknown }
      return typeof propertyName === 'string' ? [propertyName] : []
    }),
  )
