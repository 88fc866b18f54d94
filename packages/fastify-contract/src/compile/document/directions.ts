import { ignoredKeyword } from '../../serve/exact-keywords.ts'
import { inPlaceKeywords, type Schema, schemaKeywords, schemasIn } from '../../serve/schema-keywords.ts'
import type { Document } from './openapi-document.ts'
import { reachability, run, type Steps, schemasBelow, schemasDescribing } from './schemas.ts'
import { schemaPrefix, sharedName } from './shared-schemas.ts'
import { isNode, type Kind, mapEntries, mapTree, memberOf, type Node, walkSchemas } from './walk-document.ts'

/** The directions of an operation's request and response, as the client of the service sees them. */
type Directions = [ofRequest: Direction, ofResponse: Direction]

/**
 * Returns a document with shared schemas in which the schemas of requests do not constrain readOnly properties, and
 * those of responses do not constrain writeOnly ones: such a property may have any value and is ignored. In a callback
 * or a webhook the service sends the request, so the directions are swapped.
 */
export function withDirections(document: Document): Document {
  let isMarked = false
  walkSchemas(document, ({ readOnly, writeOnly }) => {
    isMarked ||= readOnly === true || writeOnly === true
  })
  if (!isMarked) return document
  const { paths, webhooks, components } = document as Document & Record<string, Node | undefined>
  const { schemas } = Object(components) as { schemas?: Record<string, Schema> }
  const { directed, added } = schemasByDirection(document, schemas ?? {})

  const itemOf = (item: unknown, directions: Directions): unknown =>
    mapped(item, (name, value) => {
      const kind = memberOf('pathItem', name)?.kind
      if (kind === 'parameter') return part(value, kind, directions[0])
      return kind === 'operation' ? operationOf(value, directions) : value
    })
  const operationOf = (operation: unknown, [ofRequest, ofResponse]: Directions): unknown =>
    mapped(operation, (name, value) => {
      if (name === 'parameters') return part(value, 'parameter', ofRequest)
      if (name === 'requestBody') return mapTree(value, name, transforms(ofRequest))
      if (name === 'responses') return part(value, 'response', ofResponse)
      return name === 'callbacks'
        ? mapped(value, (_, callback) => callbackOf(callback, [ofResponse, ofRequest]))
        : value
    })
  const callbackOf = (callback: unknown, directions: Directions): unknown =>
    mapped(callback, (name, item) => (name === '$ref' ? item : itemOf(item, directions)))
  /** Maps each object of an array or a map. */
  const part = (value: unknown, kind: Kind, direction: Direction): unknown =>
    Array.isArray(value)
      ? value.map((each) => mapTree(each, kind, transforms(direction)))
      : mapped(value, (_, each) => mapTree(each, kind, transforms(direction)))
  const transforms = (direction: Direction) => ({
    mediaType: holder('mediaType', direction),
    parameter: holder('parameter', direction),
    header: holder('header', direction),
  })
  const holder = (kind: Kind, direction: Direction) => (node: Node) =>
    mapped(node, (name, value) =>
      memberOf(kind, name)?.kind === 'schema' ? directed(value as Schema, direction) : value,
    )

  const served: Directions = ['request', 'response']
  const componentOf: Record<string, (value: unknown) => unknown> = {
    parameters: (value) => part(value, 'parameter', 'request'),
    requestBodies: (value) => part(value, 'requestBody', 'request'),
    responses: (value) => part(value, 'response', 'response'),
    headers: (value) => part(value, 'header', 'response'),
    pathItems: (value) => mapped(value, (_, item) => itemOf(item, served)),
    callbacks: (value) => mapped(value, (_, callback) => callbackOf(callback, ['response', 'request'])),
  }
  const others = mapped(components, (name, value) => componentOf[name]?.(value) ?? value) as Node
  const directedPaths = mapped(paths, (_, item) => itemOf(item, served))
  const directedWebhooks = mapped(webhooks, (_, item) => itemOf(item, ['response', 'request']))
  return {
    ...document,
    ...(paths !== undefined && { paths: directedPaths }),
    ...(webhooks !== undefined && { webhooks: directedWebhooks }),
    components: { ...others, schemas: { ...schemas, ...added } },
  } as Document
}

const mapped = (node: unknown, map: (name: string, value: unknown) => unknown): unknown =>
  isNode(node) ? mapEntries(node, (value, name) => map(name, value)) : (node ?? {})

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
  function directedWhole(schema: Schema, direction: Direction): Schema {
    const made = directed(schema, direction)
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) next()
    return made
  }

  /** Returns the schema that applies to a whole value, which no surrounding schema describes. */
  const directed = (schema: Schema, direction: Direction): Schema => {
    if (!reaches[direction](schema)) return schema
    const kept = discriminatorNames(inPlace(document, schema))
    return rewritten(schema, inside({ direction, ignored: new Set(), kept }, schema))
  }

  const inside = ({ direction, ignored, kept }: Context, schema: Schema): Context => {
    const own = [...ignoredNames[direction](schema)].filter((name) => !kept.has(name))
    return { direction, ignored: new Set([...ignored, ...own]), kept }
  }

  function rewritten(schema: Schema, context: Context): Schema {
    if (!isNode(schema)) return schema
    const entries = Object.entries(schema).map(([keyword, value]) => [keyword, keywordOf(keyword, value, context)])
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  }

  function keywordOf(keyword: string, value: unknown, context: Context): unknown {
    const { direction, ignored } = context
    if (keyword === '$ref') return schemaPrefix + variantOf(sharedName(value as string), context)
    if (keyword === 'properties') {
      return mapEntries(value as Node, (below, name) =>
        ignored.has(name) ? { [ignoredKeyword]: true } : directed(below as Schema, direction),
      )
    }
    if (keyword === 'required') return notIgnored(value, ignored)
    if (keyword === 'dependentRequired')
      return mapEntries(without(value, ignored), (list) => notIgnored(list, ignored) ?? [])
    if (keyword === 'dependencies') return without(value, ignored)
    if (keyword === 'example' || keyword === 'default') return shown(value, ignored)
    if (keyword === 'examples' && Array.isArray(value)) return value.map((each) => shown(each, ignored))
    const shape = Object.hasOwn(schemaKeywords, keyword) && !tests.includes(keyword) && schemaKeywords[keyword]
    if (!shape) return value
    const below = branches.includes(keyword)
      ? (each: Schema) => rewritten(each, inside(context, each))
      : (each: Schema) => directed(each, direction)
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
    const { named, marked } = mentionsOf(name, direction)
    const kept = new Set([...context.kept].filter((each) => marked.has(each)))
    const ignored = new Set([...context.ignored].filter((each) => named.has(each)))
    const own = inside({ direction, ignored, kept }, target)
    if (own.ignored.size === 0 && !reaches[direction](target)) return name
    const key = JSON.stringify([name, direction, [...own.ignored].sort(), [...kept].sort()])
    const known = names.get(key)
    if (known !== undefined) return known
    const made = unused(`${name}.${direction}`)
    names.set(key, made)
    // Registered before it is built, since a schema may contain itself. Built from a queue, since recursion along a
    // long chain of schemas could overflow the stack.
    added[made] = {}
    waiting.push(() => Object.assign(added, { [made]: rewritten(target, own) }))
    return made
  }

  function mentionsOf(name: string, direction: Direction): Mentions {
    const key = `${direction} ${name}`
    const parts = mentions.has(key) ? [] : inPlace(document, schemas[name] as Schema)
    const made = mentions.get(key) ?? {
      named: new Set(parts.flatMap(namesIn)),
      marked: new Set(parts.flatMap((part) => markedNames(document, part, direction))),
    }
    mentions.set(key, made)
    return made
  }

  const unused = (name: string): string => {
    const isTaken = (each: string) => Object.hasOwn(schemas, each) || Object.hasOwn(added, each)
    let count = 1
    while (isTaken(count === 1 ? name : `${name}-${count}`)) count++
    return count === 1 ? name : `${name}-${count}`
  }

  return { directed: directedWhole, added }
}

/** Returns the names of a list that are not ignored, or undefined if none are left. */
function notIgnored(list: unknown, ignored: Set<string>): unknown {
  const names = (list as string[]).filter((name) => !ignored.has(name))
  return names.length > 0 ? names : undefined
}

/** Returns an example without the ignored properties. */
const shown = (value: unknown, ignored: Set<string>): unknown => (isNode(value) ? without(value, ignored) : value)

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

/** The direction of a value: from the client (request) or to it (response). */
type Direction = 'request' | 'response'

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
    // Stops the recursion of a schema that is an alternative of itself, which schema-rules.ts rejects.
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
const markedNames = (document: object, schema: Node, direction: Direction): string[] =>
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
