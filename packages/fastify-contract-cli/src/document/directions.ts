import { inPlaceKeywords, type Schema, schemaKeywords, schemasIn } from 'fastify-contract/contract'
import { ignoredKeyword } from 'fastify-contract/schema'
import type { Document } from './openapi-document.ts'
import { reachability, run, type Steps, schemasBelow, schemasDescribing } from './schemas.ts'
import { schemaPrefix, sharedName } from './shared-schemas.ts'
import { isNode, type Kind, mapEntries, mapTree, memberOf, type Node, walkSchemas } from './walk-document.ts'

/** The direction of a value as the client of the service sees it. */
type Direction = 'request' | 'response'

/** The directions of the request and of the response of an operation. */
type Exchange = [ofRequest: Direction, ofResponse: Direction]

/** The directions of an operation that the service serves, and of one that it calls: in a callback or a webhook. */
const served: Exchange = ['request', 'response']
const called: Exchange = ['response', 'request']

/**
 * Returns a document with shared schemas in which the schemas of requests do not constrain readOnly properties, and
 * those of responses do not constrain writeOnly ones: such a property may have any value and is ignored. In a callback
 * or a webhook the service sends the request, so the directions are swapped.
 */
export function withDirections(document: Document): Document {
  let hasMarks = false
  walkSchemas(document, ({ readOnly, writeOnly }) => {
    hasMarks ||= readOnly === true || writeOnly === true
  })
  if (!hasMarks) return document
  const { paths, webhooks, components } = document as Document & Record<string, Node | undefined>
  const { schemas } = Object(components) as { schemas?: Record<string, Schema> }
  const { convert, added } = schemasByDirection(document, schemas ?? {})

  const itemOf = (item: unknown, exchange: Exchange): unknown =>
    mapValues(item, function convertMember(value, name) {
      const kind = memberOf('pathItem', name)?.kind
      if (kind === 'parameter') return convertEach(value, kind, exchange[0])
      if (name === 'additionalOperations') return mapValues(value, (operation) => operationOf(operation, exchange))
      return kind === 'operation' ? operationOf(value, exchange) : value
    })
  const operationOf = (operation: unknown, [ofRequest, ofResponse]: Exchange): unknown => {
    const memberOfOperation = (value: unknown, name: string) => {
      if (name === 'parameters') return convertEach(value, 'parameter', ofRequest)
      if (name === 'requestBody') return mapTree(value, name, transforms(ofRequest))
      if (name === 'responses') return convertEach(value, 'response', ofResponse)
      if (name !== 'callbacks') return value
      return mapValues(value, (callback) => callbackOf(callback, [ofResponse, ofRequest]))
    }
    return mapValues(operation, memberOfOperation)
  }
  const callbackOf = (callback: unknown, exchange: Exchange): unknown =>
    mapValues(callback, (item, name) => (name === '$ref' ? item : itemOf(item, exchange)))
  /** Converts each object of an array or a map. */
  const convertEach = (value: unknown, kind: Kind, direction: Direction): unknown => {
    const converted = (each: unknown) => mapTree(each, kind, transforms(direction))
    return Array.isArray(value) ? value.map(converted) : mapValues(value, converted)
  }
  const transforms = (direction: Direction) => ({
    mediaType: holder('mediaType', direction),
    parameter: holder('parameter', direction),
    header: holder('header', direction),
  })
  const holder = (kind: Kind, direction: Direction) => (node: Node) =>
    mapValues(node, (value, name) =>
      memberOf(kind, name)?.kind === 'schema' ? convert(value as Schema, direction) : value,
    )

  const componentOf: Record<string, (value: unknown) => unknown> = {
    parameters: (value) => convertEach(value, 'parameter', 'request'),
    requestBodies: (value) => convertEach(value, 'requestBody', 'request'),
    responses: (value) => convertEach(value, 'response', 'response'),
    headers: (value) => convertEach(value, 'header', 'response'),
    pathItems: (value) => mapValues(value, (item) => itemOf(item, served)),
    callbacks: (value) => mapValues(value, (callback) => callbackOf(callback, called)),
  }
  const others = mapValues(components, (value, name) => componentOf[name]?.(value) ?? value) as Node
  const convertedPaths = mapValues(paths, (item) => itemOf(item, served))
  const convertedWebhooks = mapValues(webhooks, (item) => itemOf(item, called))
  return {
    ...document,
    ...(paths !== undefined && { paths: convertedPaths }),
    ...(webhooks !== undefined && { webhooks: convertedWebhooks }),
    components: { ...others, schemas: { ...schemas, ...added } },
  } as Document
}

/** Maps the values of an object like `mapEntries`; anything else stays as it is, and a missing object is empty. */
const mapValues = (node: unknown, map: (value: unknown, name: string) => unknown): unknown =>
  isNode(node) ? mapEntries(node, map) : (node ?? {})

/** A value that several schemas describe together: its ignored properties, and those that are never ignored. */
type Context = { direction: Direction; ignored: Set<string>; kept: Set<string> }

/** The names of the properties that the parts of a schema mention, and of those that they mark. */
type Mentions = { named: Set<string>; marked: Set<string> }

/** Keywords whose schemas describe the same value as the schema that holds them. */
const branches = ['allOf', 'anyOf', 'oneOf', 'then', 'else', 'dependentSchemas']

/** Keywords whose schemas only test a value as it was sent, or do not describe the value: they are left unchanged. */
const tests = ['not', 'if', 'dependencies', 'propertyNames', 'contentSchema', '$defs', 'definitions']

/**
 * Returns a function that converts a schema of a document with shared schemas to the one that applies in a request or
 * in a response, and the shared schemas that the conversion adds: `Pet.request` beside `Pet` where they differ.
 */
function schemasByDirection(document: object, schemas: Record<string, Schema>) {
  const reaches = { request: reachingMark(document, 'readOnly'), response: reachingMark(document, 'writeOnly') }
  const ignoredNames = { request: ignoredNamesOf(document, 'request'), response: ignoredNamesOf(document, 'response') }
  const added: Record<string, Schema> = {}
  const names = new Map<string, string>()
  const mentions = new Map<string, Mentions>()
  const waiting: (() => void)[] = []

  /** Returns the schema that applies in a direction, and adds the shared schemas that it refers to. */
  function convert(schema: Schema, direction: Direction): Schema {
    const converted = convertValueSchema(schema, direction)
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) next()
    return converted
  }

  /** Converts the schema of a whole value, which no surrounding schema describes. */
  const convertValueSchema = (schema: Schema, direction: Direction): Schema => {
    if (!reaches[direction](schema)) return schema
    const kept = discriminatorNames(inPlace(document, schema))
    return rewritten(schema, inside({ direction, ignored: new Set(), kept }, schema))
  }

  function inside({ direction, ignored, kept }: Context, schema: Schema): Context {
    const all = new Set(ignored)
    for (const name of ignoredNames[direction](schema)) if (!kept.has(name)) all.add(name)
    return { direction, ignored: all, kept }
  }

  function rewritten(schema: Schema, context: Context): Schema {
    if (!isNode(schema)) return schema
    const converted: [string, unknown][] = []
    for (const [keyword, given] of Object.entries(schema)) {
      const value = keywordOf(keyword, given, context)
      if (value !== undefined) converted.push([keyword, value])
    }
    return Object.fromEntries(converted)
  }

  function keywordOf(keyword: string, value: unknown, context: Context): unknown {
    const { direction, ignored } = context
    if (keyword === '$ref') return schemaPrefix + variantOf(sharedName(value as string), context)
    if (keyword === 'properties') {
      return mapEntries(value as Node, (below, name) =>
        ignored.has(name) ? { [ignoredKeyword]: true } : convertValueSchema(below as Schema, direction),
      )
    }
    if (keyword === 'required') return notIgnored(value, ignored)
    if (keyword === 'dependentRequired')
      return mapEntries(without(value, ignored), (list) => notIgnored(list, ignored) ?? [])
    if (keyword === 'dependencies') return without(value, ignored)
    if (keyword === 'example' || keyword === 'default') return withoutIgnored(value, ignored)
    if (keyword === 'examples' && Array.isArray(value)) return value.map((each) => withoutIgnored(each, ignored))
    const shape = Object.hasOwn(schemaKeywords, keyword) && !tests.includes(keyword) && schemaKeywords[keyword]
    if (!shape) return value
    const below = branches.includes(keyword)
      ? (each: Schema) => rewritten(each, inside(context, each))
      : (each: Schema) => convertValueSchema(each, direction)
    if (shape === 'one') return below(value as Schema)
    if (shape === 'list') return (value as Schema[]).map(below)
    // An ignored property is treated as absent, so nothing may depend on it.
    const held = keyword === 'dependentSchemas' ? without(value, ignored) : (value as Node)
    return mapEntries(held, (each) => below(each as Schema))
  }

  /** Returns the name of the variant of a shared schema for a location: its own name if nothing in it is ignored. */
  function variantOf(name: string, context: Context): string {
    const { direction } = context
    const target = schemas[name] as Schema
    // Locations that differ only in names which the schema does not mention share a variant.
    const { named, marked } = mentionsOf(name, direction)
    const kept = common(context.kept, marked)
    const ignored = common(context.ignored, named)
    const own = inside({ direction, ignored, kept }, target)
    if (own.ignored.size === 0 && !reaches[direction](target)) return name
    const key = JSON.stringify([name, direction, [...own.ignored].sort(), [...kept].sort()])
    const known = names.get(key)
    if (known !== undefined) return known
    const variant = freeName(`${name}.${direction}`)
    names.set(key, variant)
    // Registered before it is built, since a schema may contain itself. Built later, since recursion along a long chain
    // of schemas could overflow the call stack.
    added[variant] = {}
    waiting.push(() => Object.assign(added, { [variant]: rewritten(target, own) }))
    return variant
  }

  function mentionsOf(name: string, direction: Direction): Mentions {
    const key = `${direction} ${name}`
    const known = mentions.get(key)
    if (known !== undefined) return known
    const found: Mentions = { named: new Set(), marked: new Set() }
    for (const part of inPlace(document, schemas[name] as Schema)) {
      for (const each of namesIn(part)) found.named.add(each)
      for (const each of markedNames(document, part, direction)) found.marked.add(each)
    }
    mentions.set(key, found)
    return found
  }

  function freeName(name: string): string {
    let free = name
    for (let count = 2; Object.hasOwn(schemas, free) || Object.hasOwn(added, free); count++) free = `${name}-${count}`
    return free
  }

  return { convert, added }
}

/** Returns the members of a set that another one has, too. */
const common = (set: Set<string>, other: Set<string>): Set<string> => new Set([...set].filter((one) => other.has(one)))

/** Returns the names of a list that are not ignored, or undefined if none are left. */
function notIgnored(list: unknown, ignored: Set<string>): unknown {
  const names = (list as string[]).filter((name) => !ignored.has(name))
  return names.length > 0 ? names : undefined
}

/** Returns an example without the ignored properties. */
const withoutIgnored = (value: unknown, ignored: Set<string>): unknown =>
  isNode(value) ? without(value, ignored) : value

const without = (value: unknown, ignored: Set<string>): Node =>
  Object.fromEntries(Object.entries(value as Node).filter(([name]) => !ignored.has(name)))

/** Returns the names of the properties that a schema mentions. */
const namesIn = ({ properties, required, dependentRequired, dependentSchemas, dependencies }: Node): string[] => [
  ...[properties, dependentRequired, dependentSchemas, dependencies].flatMap((holder) => Object.keys(Object(holder))),
  ...((required ?? []) as string[]),
  ...Object.values(Object(dependentRequired) as Record<string, string[]>).flat(),
]

/** Returns a function that tells whether a schema contains a property with an annotation, at any depth. */
const reachingMark = (document: object, mark: Mark): ((schema: Schema) => boolean) =>
  reachability(document, Object.keys(schemaKeywords), (schema) =>
    Object.values(propertiesOf(schema)).some((each) => isMarked(document, each, mark)),
  )

/** The annotation that makes a property ignored (OpenAPI 3.0.4 section 4.7.24.1, JSON Schema validation 9.4). */
const markOf = { request: 'readOnly', response: 'writeOnly' } as const

type Mark = 'readOnly' | 'writeOnly'

/** The functions behind `isMarked` of each document. */
const markTests = new WeakMap<object, Record<Mark, (schema: Schema) => boolean>>()

/** Returns whether a schema has an annotation, directly or through a $ref or an allOf. */
export function isMarked(document: object, schema: Schema, mark: Mark): boolean {
  const known = markTests.get(document) ?? {
    readOnly: reachability(document, ['allOf'], ({ readOnly }) => readOnly === true),
    writeOnly: reachability(document, ['allOf'], ({ writeOnly }) => writeOnly === true),
  }
  markTests.set(document, known)
  return known[mark](schema)
}

/** Returns the properties that a schema itself names. */
export const propertiesOf = (schema: Node): Record<string, Schema> => Object(schema.properties)

/**
 * Returns a function that finds the names of the properties that every value of a schema ignores in a direction. A
 * property of an alternative is included only if all alternatives ignore it. Visits each schema once.
 */
export function ignoredNamesOf(document: object, direction: Direction): (schema: Schema) => Set<string> {
  const known = new Map<Schema, Set<string>>()
  return (schema) => run(ignoredNames(schema))

  function* ignoredNames(schema: Schema): Steps<Set<string>> {
    const found = known.get(schema)
    if (found !== undefined) return found
    if (!isNode(schema)) return new Set()
    const names = new Set(markedNames(document, schema, direction))
    // Stops the recursion of a schema that is an alternative of itself, which schema-rules.ts rejects.
    known.set(schema, names)
    for (const keyword of ['oneOf', 'anyOf']) {
      const branches: Set<string>[] = []
      for (const branch of schemasIn(schema, keyword)) branches.push(yield ignoredNames(branch))
      for (const name of branches[0] ?? []) if (branches.every((branch) => branch.has(name))) names.add(name)
    }
    const parts: Set<string>[] = []
    for (const part of schemasBelow(document, schema, ['allOf'])) parts.push(yield ignoredNames(part))
    const [only, ...others] = parts.filter(({ size }) => size > 0)
    // A schema that only adds unmarked properties to another one shares its set: copies would take quadratic time.
    if (names.size === 0 && only !== undefined && others.length === 0) {
      known.set(schema, only)
      return only
    }
    for (const part of parts) for (const name of part) names.add(name)
    return names
  }
}

/** Returns the names of a schema's own properties that are ignored in a direction. */
function markedNames(document: object, schema: Node, direction: Direction): string[] {
  const names: string[] = []
  for (const [name, below] of Object.entries(propertiesOf(schema)))
    if (isMarked(document, below, markOf[direction])) names.push(name)
  return names
}

/** Returns a schema and the subschemas that may describe the same value. */
export const inPlace = (document: object, schema: Schema): Node[] =>
  schemasDescribing(document, [schema], inPlaceKeywords)

/** Returns the discriminator properties of some schemas, which are never ignored. */
export function discriminatorNames(schemas: Node[]): Set<string> {
  const names = new Set<string>()
  for (const { discriminator } of schemas) {
    const { propertyName } = Object(discriminator) as { propertyName?: unknown }
    if (typeof propertyName === 'string') names.add(propertyName)
  }
  return names
}
