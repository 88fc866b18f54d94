import { inPlaceKeywords, type Schema, schemasIn } from '../serve/schema-keywords.ts'
import { reachability, run, type Steps, schemasBelow } from './schema-graph.ts'
import { schemasDescribing } from './schema-types.ts'
import { isNode, type Node } from './walk-document.ts'

/** The direction of a value: from the client (request) or to it (response). */
export type Direction = 'request' | 'response'

/** The annotation that makes a property ignored (OpenAPI 3.0.4 section 4.7.24.1, JSON Schema validation 9.4). */
const markOf = { request: 'readOnly', response: 'writeOnly' } as const

type Mark = 'readOnly' | 'writeOnly'

/** The answers of `isMarked` for each document. */
const marked = new WeakMap<object, Record<Mark, (schema: Schema) => boolean>>()

/** Returns whether a schema has an annotation, directly or through a $ref or an allOf. */
export function isMarked(document: object, schema: Schema, mark: Mark): boolean {
  const known = marked.get(document) ?? {
    readOnly: reachability(document, ['allOf'], ({ readOnly }) => readOnly === true),
    writeOnly: reachability(document, ['allOf'], ({ writeOnly }) => writeOnly === true),
  }
  marked.set(document, known)
  return known[mark](schema)
}

/** Returns the properties that a schema itself names. */
export const propertiesOf = (schema: Node): Record<string, Schema> => Object(schema.properties)

/**
 * Returns a function that finds the names of the properties that are ignored in a direction in every value of a schema.
 * A property of an alternative is included only if all alternatives ignore it. Visits each schema once.
 */
export function ignoredNamesOf(document: object, direction: Direction): (schema: Schema) => Set<string> {
  const known = new Map<Schema, Set<string>>()
  return (schema) => run(ignoredNames(schema))

  function* ignoredNames(schema: Schema): Steps<Set<string>> {
    const found = known.get(schema)
    if (found !== undefined) return found
    if (!isNode(schema)) return new Set()
    const names = new Set(markedNames(document, schema, direction))
    // Stops the recursion of a schema that is an alternative of itself, which unsupported-schemas.ts rejects.
    known.set(schema, names)
    for (const keyword of ['oneOf', 'anyOf']) {
      const branches: Set<string>[] = []
      for (const branch of schemasIn(schema, keyword)) branches.push(yield ignoredNames(branch))
      for (const name of branches[0] ?? []) if (branches.every((branch) => branch.has(name))) names.add(name)
    }
    const parts: Set<string>[] = []
    for (const part of schemasBelow(document, schema, ['allOf'])) parts.push(yield ignoredNames(part))
    const others = parts.filter(({ size }) => size > 0)
    // A schema that only adds unmarked properties to another one shares its set: copies would take quadratic time.
    if (names.size === 0 && others.length === 1) {
      known.set(schema, others[0] as Set<string>)
      return others[0] as Set<string>
    }
    for (const name of others.flatMap((each) => [...each])) names.add(name)
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
