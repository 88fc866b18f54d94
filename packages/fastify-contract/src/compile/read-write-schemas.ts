import { ignoredKeyword } from '../serve/exact-keywords.ts'
import { type Schema, schemaKeywords } from '../serve/schema-keywords.ts'
import { reachingSchemas } from './reaching-schemas.ts'
import { type Direction, discriminatorNames, ignoredNamesOf, inPlace, markedNames } from './read-write-marks.ts'
import { schemaPrefix, sharedName } from './shared-schemas.ts'
import { isNode, type Node } from './walk-document.ts'

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
 * in a response, and the shared schemas that the conversion adds: `Plant.request` beside `Plant` where they differ.
 */
export function schemasByDirection(document: object, schemas: Record<string, Schema>) {
  const reaches = {
    request: reachingSchemas(document, schemas, 'readOnly'),
    response: reachingSchemas(document, schemas, 'writeOnly'),
  }
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
      return mapped(value as Node, (below, name) =>
        ignored.has(name) ? { [ignoredKeyword]: true } : directed(below as Schema, direction),
      )
    }
    if (keyword === 'required') return notIgnored(value, ignored)
    if (keyword === 'dependentRequired')
      return mapped(without(value, ignored), (list) => notIgnored(list, ignored) ?? [])
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
    return mapped(held, (each) => below(each as Schema))
  }

  /** Returns the name of the variant of a shared schema for a place: its own name if nothing in it is ignored. */
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

const mapped = (node: Node, map: (value: unknown, name: string) => unknown): Node =>
  Object.fromEntries(Object.entries(node).map(([name, value]) => [name, map(value, name)]))

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
