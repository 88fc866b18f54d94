import { isDeepStrictEqual } from 'node:util'
import { type Schema, schemasIn } from '../../serve/schema-keywords.ts'
import { resolve } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { matchesPattern } from '../document/patterns.ts'
import { commonTypes, groupedByName, numbersOf, partsOf, typeOfValue } from '../document/schemas.ts'
import { isNode, type Node, walkSchemas } from '../document/walk-document.ts'

/** A schema that no value satisfies, and why. */
type Contradiction = { schema: Node; reason: string }

/**
 * The maximum number of search steps for one schema, and the maximum depth of nested calls of `search`, which bounds
 * the stack. Schemas beyond these limits are assumed to be satisfiable.
 */
const maxSteps = 10_000
const maxDepth = 100
/**
 * The maximum number of parts of one schema that are compared, in a document with `count` schemas. Without it, a chain
 * of n schemas would take n² comparisons.
 */
const maxParts = (count: number) => Math.max(100, Math.floor(200_000 / count))

/**
 * Returns one line for each schema that no value satisfies: an allOf or a discriminator that contradicts itself, or a
 * schema that requires itself endlessly. The schema `false` and schemas below `not` and `if` are considered deliberate
 * and are not reported.
 */
export function unsatisfiableSchemas(document: Document): string[] {
  const places = new Map<Node, string>()
  walkSchemas(document, (schema, pointer, members) => {
    if (!members.includes('not') && !members.includes('if')) places.set(schema, pointer)
  })
  const satisfiable = new Set<Node>()
  const found = new Map<Node, string>()
  for (const schema of places.keys()) {
    const contradiction = searcher(document, satisfiable, maxParts(places.size)).search(schema, [])
    if (contradiction !== undefined && contradiction.reason !== nothingAllowed) {
      found.set(contradiction.schema, contradiction.reason)
    }
  }
  return Array.from(places).flatMap(([schema, pointer]) =>
    found.has(schema) ? [`${pointer}: no value satisfies it: ${found.get(schema)}; correct the schema`] : [],
  )
}

function searcher(document: Document, satisfiable: Set<Node>, limit: number) {
  let steps = 0
  let depth = 0

  /** Returns a contradiction in a schema or in what its values must contain; `within` are the enclosing schemas. */
  function search(schema: Node, within: Node[]): Contradiction | undefined {
    if (satisfiable.has(schema) || depth === maxDepth || ++steps > maxSteps) return undefined
    if (within.includes(schema)) return { schema, reason: 'each value would have to contain another one, without end' }
    depth++
    try {
      const contradiction = searchParts(schema, within)
      if (contradiction === undefined) satisfiable.add(schema)
      return contradiction
    } finally {
      depth--
    }
  }

  function searchParts(schema: Node, within: Node[]): Contradiction | undefined {
    const inside = [...within, schema]
    const target = typeof schema.$ref === 'string' ? (resolve(document, schema.$ref) as Schema) : undefined
    // A reference does not contain its target: only the target can contain itself.
    const below = isNode(target) ? search(target, within) : undefined
    if (below !== undefined) return below
    for (const part of schemasIn(schema, 'allOf')) {
      const contradiction = isNode(part) ? search(part, inside) : undefined
      if (contradiction !== undefined) return contradiction
    }
    return together(schema, [schema], [], inside)
  }

  /**
   * Returns a contradiction between schemas in `holder` that describe one value. They already include one alternative
   * of each list in `chosen`.
   */
  function together(holder: Node, schemas: Schema[], chosen: Schema[][], within: Node[]): Contradiction | undefined {
    if (++steps > maxSteps || within.length > maxDepth) return undefined
    const nodes = schemas.flatMap((schema) => partsOf(document, schema, limit)).map((part) => part.schema)
    const reason = conflictReason(nodes)
    if (reason !== undefined) return { schema: holder, reason }
    for (const [name, schemas] of needed(nodes)) {
      const [only] = schemas
      const contradiction =
        schemas.length === 1 && isNode(only) ? search(only, within) : together(holder, schemas, [], [...within, holder])
      if (contradiction === undefined) continue
      const { schema, reason } = contradiction
      const isOwn = schema === holder || reason === nothingAllowed
      return isOwn ? { schema: holder, reason: `${name}: ${reason}` } : contradiction
    }
    const branches = nodes
      .flatMap(({ oneOf, anyOf }) => [oneOf, anyOf])
      .find((list) => isList(list) && !chosen.includes(list))
    if (!isList(branches)) return undefined
    let last: Contradiction | undefined
    for (const branch of branches) {
      const alone = isNode(branch) ? search(branch, within) : undefined
      if (branch === false || alone?.reason === nothingAllowed)
        last ??= { schema: holder, reason: 'no alternative can be satisfied' }
      else last = alone ?? together(holder, [...schemas, branch], [...chosen, branches], within)
      if (last === undefined) return undefined
    }
    return last
  }

  return { search }
}

const isList = (value: unknown): value is Schema[] => Array.isArray(value)

/** Returns the properties or items that every value of the schemas must contain, each with its schemas. */
function needed(schemas: Node[]): [name: string, schemas: Schema[]][] {
  const types = commonTypes(schemas)
  if (types?.length !== 1) return []
  if (types[0] === 'array' && schemas.some(({ minItems }) => Number(minItems) >= 1)) {
    return [['items', schemas.flatMap(firstItem)]]
  }
  const names =
    types[0] === 'object' ? schemas.flatMap(({ required }) => (Array.isArray(required) ? required : [])) : []
  const needed = [...new Set(names.map(String))]
  const described = needed.length === 0 ? new Map<string, Schema[]>() : groupedByName(schemas, properties, needed)
  return needed.map((name) => [name, described.get(name) ?? []])
}

const properties = {
  namesIn: (schema: Node) => Object.keys(Object(schema.properties)),
  isOpen: ({ patternProperties, additionalProperties }: Node) =>
    (patternProperties ?? additionalProperties) !== undefined,
  schemasOf: propertySchemas,
}

const firstItem = (schema: Node): Schema[] =>
  [...schemasIn(schema, 'prefixItems'), ...schemasIn(schema, 'items')].slice(0, 1)

function propertySchemas(schema: Node, name: string): Schema[] {
  const properties = Object(schema.properties) as Record<string, Schema>
  const patterns = Object.entries(Object(schema.patternProperties) as Record<string, Schema>)
  const matches = patterns.map(([pattern, below]) => ({ isMatch: matchesPattern(pattern, name), below }))
  // A pattern that takes too long may match or not, so the property is assumed to be satisfiable.
  if (matches.some(({ isMatch }) => isMatch === undefined)) return []
  const matching = matches.filter(({ isMatch }) => isMatch).map(({ below }) => below)
  const own = Object.hasOwn(properties, name) ? [properties[name] as Schema] : []
  const described = [...own, ...matching]
  return described.length > 0 ? described : schemasIn(schema, 'additionalProperties')
}

/** The reason for a schema that is false or refers to one. */
const nothingAllowed = 'nothing is allowed there'

/** Returns the reason why no value satisfies all of the schemas, by their own keywords; undefined if there is none. */
function conflictReason(schemas: Node[]): string | undefined {
  if (schemas.some(({ not }) => isNode(not) && Object.keys(not).length === 0)) return nothingAllowed
  const types = commonTypes(schemas)
  if (types?.length === 0) return 'its types exclude each other'
  const lists = schemas.flatMap(({ const: value, enum: values }) => [
    ...(value === undefined ? [] : [[value]]),
    // An empty enum is not valid: the compilation of the schema reports it.
    ...(Array.isArray(values) && values.length > 0 ? [values] : []),
  ])
  const [first, ...others] = lists
  const allowed = first?.filter((value) => others.every((list) => list.some((one) => isDeepStrictEqual(one, value))))
  if (allowed?.length === 0) return `${lists.map((list) => JSON.stringify(list)).join(' and ')} have no value in common`
  const isTyped = (value: unknown) => types === undefined || types.some((type) => isOfType(value, type))
  if (allowed?.every((value) => !isTyped(value)))
    return `${JSON.stringify(allowed)} contains no value of the allowed types`
  return types?.length === 1 ? limitProblem(schemas, types[0] as string) : undefined
}

const isOfType = (value: unknown, type: string): boolean =>
  type === 'integer' ? Number.isInteger(value) : type === typeOfValue(value)

/** The keywords for the lower and the upper limit of values of each type. */
const limits: Record<string, [low: string, high: string]> = {
  string: ['minLength', 'maxLength'],
  array: ['minItems', 'maxItems'],
  object: ['minProperties', 'maxProperties'],
  integer: ['minimum', 'maximum'],
  number: ['minimum', 'maximum'],
}

/** Returns the reason why no value of a type is within the limits of all of the schemas; undefined if there is none. */
function limitProblem(schemas: Node[], type: string): string | undefined {
  const [least, most] = limits[type] ?? ['', '']
  const low = Math.max(...numbersOf(schemas, least))
  const high = Math.min(...numbersOf(schemas, most))
  if (low > high) return `${least} ${low} is above ${most} ${high}`
  if (least !== 'minimum') return undefined
  const above = Math.max(...numbersOf(schemas, 'exclusiveMinimum'))
  const below = Math.min(...numbersOf(schemas, 'exclusiveMaximum'))
  if (above >= high || above >= below || low >= below) return 'its exclusive limits leave no number'
  if (type === 'number') return undefined
  const first = Math.max(Math.ceil(low), Math.floor(above) + 1)
  const last = Math.min(Math.floor(high), Math.ceil(below) - 1)
  return first > last ? 'its limits leave no integer' : undefined
}
