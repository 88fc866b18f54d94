import { createRequire } from 'node:module'
import { wideInteger } from 'fastify-contract/json'
import type { ErrorCode, LineCounter, Node, Pair, parseDocument, Tags, YAMLError, YAMLMap } from 'yaml'
import { type Place, placeText, rejectAliases, SourceError, tooDeep, valuesLimit, withinStack } from './source-error.ts'
import { digitsOf } from './yaml-values.ts'

const require = createRequire(import.meta.url)

let loaded: typeof import('yaml') | undefined

/** Returns the parser, which most documents do not need: it has 72 modules. */
function yaml(): typeof import('yaml') {
  loaded ??= require('yaml') as typeof import('yaml')
  return loaded
}

/** The first `&` is the sign of an anchor, or part of a text. */
const mayHaveAliases = (text: string): boolean => text.includes('&')

/** The tags of YAML 1.1 whose values JSON does not have. */
const beyondJson = /:(?:timestamp|binary|set|omap|pairs)$/

type Parsed = { document: ReturnType<typeof parseDocument>; lines: LineCounter }

/** Parses JSON or YAML 1.2 with all that belongs to it. Throws a SourceError with the place of the first mistake. */
export function parseYaml(text: string, name: string): Parsed {
  const lines = new (yaml().LineCounter)()
  const options = {
    lineCounter: lines,
    merge: true,
    uniqueKeys: false,
    strict: false,
    prettyErrors: false,
    logLevel: 'error',
    // Only values of JSON: no dates, sets or bytes.
    resolveKnownTags: false,
    customTags: (tags: Tags) => tags.filter((tag) => typeof tag === 'string' || !beyondJson.test(tag.tag)),
  } as const
  const parsed = withinStack(name, () => ({ document: yaml().parseDocument(text, options), lines }))
  const at = (offset: number) => placeText(name, lines.linePos(offset))
  const [error] = parsed.document.errors
  // The parser reports its own overflow of the stack as an error of the text.
  if (error?.message.includes('Maximum call stack')) throw tooDeep(name)
  if (error !== undefined) throw new SourceError(`${at(error.pos[0])}: ${messageOf(error)}`)
  const twice = secondKey(parsed.document.contents)
  if (twice !== undefined) {
    const { key, range } = twice
    throw new SourceError(`${at(range?.[0] ?? 0)}: duplicate key ${JSON.stringify(key)}; remove one of them`)
  }
  return parsed
}

/** What is meant by errors of the YAML parser that name its own terms, or no remedy. */
const explanations: Partial<Record<ErrorCode, string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'a second key in one line; quote a text that contains a colon and a space',
  MULTIPLE_DOCS: 'the file has several YAML documents; write each to a file of its own',
}

const fixes: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'use spaces',
  BAD_SCALAR_START: 'quote the text',
  UNEXPECTED_TOKEN: 'correct the quotes, commas and brackets before it',
}

const messageOf = ({ code, message }: YAMLError): string =>
  explanations[code] ?? `${message.replace(/\s+/g, ' ')}; ${fixes[code] ?? 'correct it'}`

/**
 * Returns the key of a pair as a member of an object is named; undefined for a merge key. The parser's own check of keys
 * compares every pair, and takes 404 and "404" for different keys.
 */
function keyOf({ key }: Pair): string | undefined {
  const value = yaml().isScalar(key) ? key.value : key
  if (typeof value === 'symbol') return undefined
  return value === null ? '' : String(value)
}

/** Returns the first key that a map holds a second time, with its range. */
function secondKey(root: unknown): { key: string; range: Node['range'] } | undefined {
  const waiting: unknown[] = [root]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (!yaml().isMap(node) && !yaml().isSeq(node)) continue
    const keys = new Set<string>()
    for (const item of node.items) {
      if (!yaml().isPair(item)) {
        waiting.push(item)
        continue
      }
      waiting.push(item.value ?? null)
      const key = keyOf(item)
      if (key === undefined) continue
      if (keys.has(key)) return { key, range: (item.key as Node).range }
      keys.add(key)
    }
  }
  return undefined
}

/** Returns the offset of the first alias without an anchor before it, or merge key whose value is no map. */
function brokenAlias(root: unknown): number {
  const anchored = new Map<string, unknown>()
  const visit = (node: unknown): number | undefined => {
    if (yaml().isAlias(node)) return anchored.has(node.source) ? undefined : node.range?.[0]
    if (!yaml().isNode(node)) return undefined
    if (node.anchor !== undefined) anchored.set(node.anchor, node)
    if (yaml().isSeq(node)) return first(node.items, visit)
    return yaml().isMap(node) ? first(node.items, visitPair) : undefined
  }
  const visitPair = (pair: Pair): number | undefined => {
    const { value } = pair
    const found = visit(value)
    const merged = keyOf(pair) === undefined ? (yaml().isSeq(value) ? value.items : [value]) : []
    const isMerged = merged.every((each) => yaml().isMap(yaml().isAlias(each) ? anchored.get(each.source) : each))
    return found ?? (isMerged ? undefined : (pair.key as Node).range?.[0])
  }
  return visit(root) ?? 0
}

/** Returns the first result that is not undefined. */
function first<Item>(items: Item[], visit: (item: Item) => number | undefined): number | undefined {
  for (const item of items) {
    const found = visit(item)
    if (found !== undefined) return found
  }
  return undefined
}

/** Replaces each integer beyond the safe ones by a bigint with its digits. Its aliases refer to the same node. */
function keepDigits(document: Parsed['document']): void {
  yaml().visit(document, {
    Scalar(key, node) {
      const { source = '', value } = node
      if (key === 'key' || typeof value !== 'number' || Number.isSafeInteger(value)) return
      node.value = wideInteger(digitsOf(source)) ?? value
    },
  })
}

/** Returns the value of a parsed text, in which each alias has a copy of what it stands for. */
export function plainValue({ document, lines }: Parsed, text: string, name: string): unknown {
  const value = withinStack(name, function toPlain() {
    try {
      keepDigits(document)
      return document.toJS({ maxAliasCount: -1 })
    } catch (error) {
      if (error instanceof RangeError) throw error
      const place = placeText(name, lines.linePos(brokenAlias(document.contents)))
      throw new SourceError(`${place}: ${(error as Error).message.replace(/\s+/g, ' ')}; correct it`)
    }
  })
  if (!mayHaveAliases(text)) return value
  let count = 0
  const above = new Set<object>()
  const copy = (each: unknown): unknown => {
    if (++count > valuesLimit) rejectAliases(name)
    if (typeof each !== 'object' || each === null) return each
    if (above.has(each)) throw new SourceError(`${name}: an alias stands for a value that holds it; correct the alias`)
    above.add(each)
    const held = Array.isArray(each)
      ? each.map(copy)
      : Object.fromEntries(Object.entries(each).map(([key, value]) => [key, copy(value)]))
    above.delete(each)
    return held
  }
  return withinStack(name, () => copy(value))
}

/** Returns the place of the value at some keys, or of its key; of the closest value above it if there is none. */
export function placeIn({ document, lines }: Parsed, keys: string[], onKey = false): Place {
  let node = document.contents as Node | null
  let key: Node | undefined
  for (const each of keys) {
    const pair = memberOf(document, node, each)
    if (pair === undefined) break
    node = pair.value ?? node
    key = pair.key ?? pair.value ?? key
  }
  const { line, col } = lines.linePos((onKey ? key : node)?.range?.[0] ?? 0)
  return { line, col }
}

/** Returns the text of the scalar at some keys without quotes; undefined if there is none. */
export function textIn({ document }: Parsed, keys: string[]): string | undefined {
  let node = document.contents as Node | null
  for (const each of keys) node = memberOf(document, node, each)?.value ?? null
  return yaml().isScalar(node) ? node.source : undefined
}

/** Returns where the value at some keys begins and ends, plus an offset; undefined if there is none. */
export function rangeIn({ document }: Parsed, keys: string[], offset: number): [number, number] | undefined {
  let node = document.contents as Node | null
  for (const each of keys) node = memberOf(document, node, each)?.value ?? null
  return node?.range ? [node.range[0] + offset, node.range[1] + offset] : undefined
}

/** Returns the key and the value of a member of a map, which it may have by a merge key, or of a list. */
function memberOf(
  document: Parsed['document'],
  given: Node | null,
  key: string,
): { key?: Node; value: Node | null } | undefined {
  const node = yaml().isAlias(given) ? given.resolve(document) : given
  if (yaml().isSeq(node)) return Object.hasOwn(node.items, key) ? { value: node.items[Number(key)] as Node } : undefined
  if (!yaml().isMap(node)) return undefined
  const found = node.items.find((pair) => keyOf(pair) === key)
  if (found !== undefined) return { key: found.key as Node, value: found.value as Node | null }
  for (const merged of mergedInto(node)) {
    const member = memberOf(document, merged, key)
    if (member !== undefined) return member
  }
  return undefined
}

const mergedInto = (map: YAMLMap): Node[] =>
  map.items
    .filter((pair) => keyOf(pair) === undefined)
    .flatMap(({ value }) => (yaml().isSeq(value) ? value.items : [value]) as Node[])
