import { inPlaceKeywords, type Schema, schemaKeywords, schemasIn } from 'fastify-contract/contract'
import { compilePattern, mixedFormat } from 'fastify-contract/schema'
import { targetOf } from './json-pointer.ts'
import type { Document } from './openapi-document.ts'
import { isNode, type Node } from './walk-document.ts'

/** What the schemas of a document say about a value. Linear in the size of the document, without deep recursion. */

/** Returns the target of a schema's reference and its subschemas in `keywords`, except boolean schemas. */
export function schemasBelow(document: object, schema: Node, keywords: readonly string[]): Node[] {
  const below: Node[] = []
  const add = (one: unknown) => typeof one === 'object' && one !== null && below.push(one as Node)
  if (typeof schema.$ref === 'string') add(targetOf(document, schema.$ref))
  for (const keyword of keywords) if (keyword in schema) for (const one of schemasIn(schema, keyword)) add(one)
  return below
}

/**
 * Returns a function that tells whether a schema, or one that it leads to through its references and `keywords`, is
 * accepted by `isFound`. All calls together visit each schema once.
 */
export function reachability(
  document: object,
  keywords: readonly string[],
  isFound: (schema: Node) => boolean,
): (schema: unknown) => boolean {
  const visited = new Set<Node>()
  const reaching = new Set<Node>()
  return isReaching

  function isReaching(schema: unknown): boolean {
    if (!isNode(schema) || visited.has(schema)) return reaching.has(schema as Node)
    if (schemasBelow(document, schema, keywords).length === 0) return isFound(schema)
    const unvisited = new Set([schema])
    const holders = new Map<Node, Node[]>()
    const found = new Set<Node>()
    // Iteration over a Set includes the elements that are added meanwhile.
    for (const node of unvisited) {
      visited.add(node)
      if (isFound(node)) found.add(node)
      for (const below of schemasBelow(document, node, keywords)) {
        if (reaching.has(below)) found.add(node)
        if (!visited.has(below)) unvisited.add(below)
        const known = holders.get(below)
        if (known === undefined) holders.set(below, [node])
        else known.push(node)
      }
    }
    for (const node of found) {
      reaching.add(node)
      for (const holder of holders.get(node) ?? []) found.add(holder)
    }
    return reaching.has(schema)
  }
}

/**
 * Returns the strongly connected component of each schema, as a number: two schemas have the same one if each leads to
 * the other through references and `keywords`.
 */
export function components(document: object, schemas: Iterable<Node>, keywords: readonly string[]): Map<Node, number> {
  const order = new Map<Node, number>()
  const lowest = new Map<Node, number>()
  const component = new Map<Node, number>()
  const open: Node[] = []
  const enter = (node: Node) => {
    lowest.set(node, order.size)
    order.set(node, order.size)
    open.push(node)
    return { node, below: schemasBelow(document, node, keywords).values() }
  }
  const lower = (node: Node, value: number) => lowest.set(node, Math.min(lowest.get(node) as number, value))
  for (const root of schemas) {
    const path = order.has(root) ? [] : [enter(root)]
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const { node } = last
      const { value: below } = last.below.next()
      if (below !== undefined) {
        if (!order.has(below)) path.push(enter(below))
        else if (!component.has(below)) lower(node, order.get(below) as number)
        continue
      }
      path.pop()
      const holder = path.at(-1)
      if (holder !== undefined) lower(holder.node, lowest.get(node) as number)
      if (lowest.get(node) !== order.get(node)) continue
      const number = order.get(node) as number
      for (const each of open.splice(open.lastIndexOf(node))) component.set(each, number)
    }
  }
  return component
}

/** A recursive function in steps: it yields each call of itself, and continues with the result. */
export type Steps<Result> = Generator<Steps<Result>, Result, Result>

/** Runs a recursive function on a stack of its own, so that deep recursion does not overflow that of JavaScript. */
export function run<Result>(start: Steps<Result>): Result {
  const stack = [start]
  let result: Result | undefined
  for (;;) {
    const { done, value } = (stack.at(-1) as Steps<Result>).next(result as Result)
    if (!done) {
      stack.push(value)
      result = undefined
      continue
    }
    stack.pop()
    if (stack.length === 0) return value
    result = value
  }
}

/** The types of JSON Schema. */
export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object'

/** Keywords whose subschemas may limit the types of a value. */
const typeBranches = ['allOf', 'anyOf', 'oneOf']

/** Keywords whose schemas describe the same value. Not `if`: a condition only tests a value. */
const valueKeywords = inPlaceKeywords.filter((keyword) => keyword !== 'if')

/**
 * Returns the schemas that describe one value together: the given ones, the targets of their references, and the
 * subschemas in `keywords`. Each is included once, even if a schema contains itself.
 */
export function schemasDescribing(document: object, schemas: unknown[], keywords = valueKeywords): Node[] {
  const found = new Set<Node>()
  const waiting = [...schemas].reverse()
  while (waiting.length > 0) {
    const schema = waiting.pop()
    if (typeof schema !== 'object' || schema === null || found.has(schema as Node)) continue
    found.add(schema as Node)
    for (const below of schemasBelow(document, schema as Node, keywords).reverse()) waiting.push(below)
  }
  return [...found]
}

/** Returns a function that returns one key for the same schemas in the same order. */
export function schemaKeys(): (schemas: Node[]) => string {
  const numbers = new Map<Node, number>()
  const numberOf = (schema: Node) => {
    if (!numbers.has(schema)) numbers.set(schema, numbers.size)
    return numbers.get(schema)
  }
  return (schemas) => schemas.map(numberOf).join()
}

/** Returns the types that a schema or its subschemas name for its values, and those for the items of an array. */
export function typesOf(document: object, schema: Schema | undefined): { types: JsonType[]; items: JsonType[] } {
  const schemas = schemasDescribing(document, [schema], typeBranches)
  const items = schemas.flatMap((each) => [...schemasIn(each, 'items'), ...schemasIn(each, 'prefixItems')])
  return {
    types: unique(schemas.flatMap(ownTypes)),
    items: unique(schemasDescribing(document, items, typeBranches).flatMap(ownTypes)),
  }
}

const unique = <T>(values: T[]): T[] => [...new Set(values)]

function ownTypes({ type, properties, enum: values, const: value }: Node): JsonType[] {
  if (type !== undefined) return [type].flat() as JsonType[]
  if (properties !== undefined) return ['object']
  const listed = value === undefined ? values : [value]
  return Array.isArray(listed) ? listed.map(typeOfValue) : []
}

/** Returns the type of a JSON value; the type of an integer is number. */
function typeOfValue(value: unknown): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return isNumber(value) ? 'number' : (typeof value as JsonType)
}

/** Keywords that describe the properties that a schema does not name. */
const openKeywords = ['patternProperties', 'additionalProperties', 'unevaluatedProperties']

const parts = (document: Document, schema: Schema | undefined): Node[] => schemasDescribing(document, [schema])

/** Returns the names of the properties that a schema or its subschemas name. */
export function propertyNames(document: Document, schema: Schema | undefined): string[] {
  const names = new Set<string>()
  for (const { properties } of parts(document, schema))
    for (const name of Object.keys(Object(properties))) names.add(name)
  return [...names]
}

/**
 * Returns the schemas of a named property in each part of a schema. Ignores unevaluatedProperties, which never applies
 * to a named property.
 */
export const propertySchemas = (document: Document, schema: Schema | undefined, name: string): Schema[][] =>
  parts(document, schema).map((part) => memberSchemas({ ...part, unevaluatedProperties: undefined }, name))

/** Returns the types of a property in each part of a schema that limits them. */
export const propertyTypes = (document: Document, schema: Schema | undefined, name: string): JsonType[][] =>
  typesIn(document, propertySchemas(document, schema, name))

/** Returns the types of the properties that a schema does not name, in each part of it that limits them. */
export function otherTypes(document: Document, schema: Schema | undefined): JsonType[][] {
  const open: Schema[][] = []
  for (const part of parts(document, schema))
    for (const keyword of openKeywords) for (const one of schemasIn(part, keyword)) open.push([one])
  return typesIn(document, open)
}

function typesIn(document: Document, all: Schema[][]): JsonType[][] {
  const found: JsonType[][] = []
  for (const schemas of all) {
    const types = unique(schemas.flatMap((schema) => typesOf(document, schema).types))
    if (types.length > 0) found.push(types)
  }
  return found
}

/** Returns whether a schema describes properties that it does not name. */
export function isOpen(document: Document, schema: Schema | undefined): boolean {
  for (const part of parts(document, schema))
    for (const keyword of openKeywords) for (const one of schemasIn(part, keyword)) if (one !== false) return true
  return false
}

/** Returns whether every text is parsed to the same value with each of the lists of types. */
export const isReadAlike = (all: JsonType[][]): boolean => new Set(all.map(readingOf)).size < 2

/** Returns which texts are parsed to numbers, booleans and null. */
const readingOf = (types: JsonType[]): string =>
  [
    types.includes('integer') || types.includes('number'),
    types.includes('boolean'),
    types.includes('null') && !types.includes('string'),
  ].join()

/** Returns the schemas of a member or an item, whether the schema names it or not. */
export function memberSchemas(schema: Node, member: string): Schema[] {
  const holder = [schema.prefixItems, schema.properties].find((one) => isEnumerable.call(Object(one), member))
  return holder === undefined ? unnamedSchemas(schema, member) : [(holder as Record<string, Schema>)[member] as Schema]
}

const isEnumerable = Object.prototype.propertyIsEnumerable

/** Keywords of schemas for members that a schema does not name, besides `patternProperties`. */
export const unnamedKeywords = ['additionalProperties', 'unevaluatedProperties', 'items', 'unevaluatedItems']

/** Returns the schemas of all members that the schema does not name, or of the one called `name`. */
export function unnamedSchemas(schema: Node, name?: string): Schema[] {
  // Most schemas name all their members, and a large document asks each schema for each member.
  if (!('patternProperties' in schema) && !unnamedKeywords.some((keyword) => keyword in schema)) return []
  const found: Schema[] = []
  for (const [pattern, below] of Object.entries((schema.patternProperties ?? {}) as Record<string, Schema>))
    if (name === undefined || compilePattern(pattern).test(name)) found.push(below)
  for (const keyword of unnamedKeywords) found.push(...schemasIn(schema, keyword))
  return found
}

/** Returns a function that tells whether a schema holds values that are bigints at any depth, also behind a $ref. */
export const int64Holders = (document: object): ((schema: Schema) => boolean) =>
  reachability(document, Object.keys(schemaKeywords), isBigint)

/** Returns whether the type of a schema allows integers and no other numbers, so that its format can make them exact. */
export const isExactInteger = (schema: Exclude<Schema, boolean> | Node): boolean =>
  hasType(schema.type, 'integer') && !isFraction(schema)

/** Returns whether a schema is an int64 or uint64, alone or beside types that are not numbers. */
export const isInt64 = (schema: Exclude<Schema, boolean> | Node): boolean =>
  (schema.format === 'int64' || schema.format === 'uint64') && isExactInteger(schema)

/** Returns whether a schema allows numbers that are no integers. */
export const isFraction = ({ type }: Exclude<Schema, boolean> | Node): boolean => hasType(type, 'number')

const hasType = (type: unknown, one: JsonType): boolean => type === one || (Array.isArray(type) && type.includes(one))

/** Returns whether integers of a schema are bigints: those of an int64, or of a number that may be an int64, too. */
export const isBigint = (schema: Exclude<Schema, boolean> | Node): boolean =>
  isInt64(schema) || (schema.format === mixedFormat && isFraction(schema))

/** A schema that every value of another schema must satisfy, too. */
export type Part = {
  schema: Node
  /** The reference that led to it, if any. */
  reference?: string
  /** The part that holds it or refers to it; the first part has none. */
  holder?: Part
  /** Whether it is the schema itself or the target of its $ref, and not a member of an allOf. */
  isOwn: boolean
}

/**
 * Returns the schemas that every value of a schema must satisfy: the schema itself, the targets of its references, and
 * the members of its allOf, each once, at most `limit` of them. The schema `false` is returned as `{ not: {} }`.
 */
export function partsOf(document: object, schema: Schema, limit = Number.POSITIVE_INFINITY): Part[] {
  const found: Part[] = []
  const seen = new Set<unknown>()
  const waiting: (Omit<Part, 'schema'> & { given: unknown })[] = [{ given: schema, isOwn: true }]
  for (let next = waiting.pop(); next !== undefined && found.length < limit; next = waiting.pop()) {
    const { given, ...more } = next
    const node = given === false ? falseSchema : given
    if (typeof node !== 'object' || node === null || seen.has(node)) continue
    seen.add(node)
    const holder: Part = { schema: node as Node, ...more }
    found.push(holder)
    const { $ref } = holder.schema
    for (const given of schemasIn(holder.schema, 'allOf').reverse()) waiting.push({ given, holder, isOwn: false })
    if (typeof $ref === 'string')
      waiting.push({ given: targetOf(document, $ref), reference: $ref, holder, isOwn: holder.isOwn })
  }
  return found
}

/** Returns the schemas of some parts. */
export const schemasOfParts = (parts: Part[]): Node[] => parts.map((part) => part.schema)

/** Returns the values that all of the schemas list in `const` or `enum`, or undefined if none lists any. */
export function listedValues(document: object, schemas: Schema[]): unknown[] | undefined {
  const lists: unknown[][] = []
  for (const { const: value, enum: values } of schemas.flatMap((each) => schemasOfParts(partsOf(document, each))))
    if (value !== undefined) lists.push([value])
    else if (Array.isArray(values)) lists.push(values)
  const [first, ...others] = lists
  return first?.filter((value) => others.every((list) => list.includes(value)))
}

/** Returns the references that led to some parts of a schema. */
export function referencesOf(parts: Part[]): string[] {
  const seen = new Set<Part>()
  for (const part of parts)
    for (let one: Part | undefined = part; one !== undefined && !seen.has(one); one = one.holder) seen.add(one)
  return [...seen].flatMap(({ reference }) => reference ?? [])
}

const falseSchema: Node = { not: {} }

/** Returns whether a value is a number of a document, which has the integers beyond the safe ones as bigints. */
export const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint'

/** Returns whether a value is an integer. */
export const isInteger = (value: unknown): value is number | bigint =>
  typeof value === 'bigint' || Number.isInteger(value)

/** Returns the numeric values of a keyword in some schemas, rounded where a double cannot hold them. */
export const numbersOf = (schemas: Node[], keyword: string): number[] =>
  schemas.flatMap(({ [keyword]: value }) => (isNumber(value) ? [Number(value)] : []))

/** Returns whether a value has a type of JSON Schema. */
export function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isNode(value)
  if (type === 'integer') return isInteger(value)
  return type === 'number' ? isNumber(value) : typeof value === type
}

/** Returns whether a schema accepts all values, because it has no keywords. */
export const acceptsAll = (schema: unknown): boolean =>
  schema === true || (isNode(schema) && Object.keys(schema).length === 0)

/** Returns the types that all of the schemas allow, or undefined if none of them limits the type. */
export function commonTypes(schemas: Node[]): string[] | undefined {
  let common: string[] | undefined
  for (const { type } of schemas) {
    if (type === undefined) continue
    const others = [type].flat().map(String)
    const isShared = (one: string) => others.includes(one) || (one === 'integer' && others.includes('number'))
    const kept = (common ?? others).filter(isShared)
    common = common?.includes('number') && others.includes('integer') ? [...new Set([...kept, 'integer'])] : kept
  }
  return common
}

/** Returns the schemas of the named members and items of a schema. No JSON value has both. */
const named = ({ properties, prefixItems }: Node): Record<string, Schema> => ({
  ...(properties as object),
  ...(prefixItems as object),
})

/**
 * Returns the members and items that some of the schemas name, each with the schemas that describe it, in order. Asks
 * only the schemas that name a member or describe unnamed ones, so that many schemas with many names take linear time.
 */
export function membersOf(schemas: Node[]): Map<string, Schema[]> {
  const open = schemas.flatMap((schema, index) => (unnamedSchemas(schema).length > 0 ? [index] : []))
  const holders = new Map<string, number[]>()
  for (const [index, schema] of schemas.entries()) {
    for (const name of Object.keys(named(schema))) {
      const known = holders.get(name)
      if (known === undefined) holders.set(name, [index])
      else known.push(index)
    }
  }
  const inOrder = (indexes: number[]) =>
    open.length === 0 ? indexes : [...new Set([...indexes, ...open])].sort((one, other) => one - other)
  const members = new Map<string, Schema[]>()
  for (const [name, indexes] of holders) {
    const held = inOrder(indexes).flatMap((index) => memberSchemas(schemas[index] as Node, name))
    members.set(name, held)
  }
  return members
}
