import { wideInteger } from 'fastify-contract/json'
import {
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Tags,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import type { Refused } from '../reports/reports.ts'
import { withoutComments } from './json-text.ts'
import { offsetOf, scalarAt } from './text-values.ts'
import { digitsOf, readYaml } from './yaml-values.ts'

/** A place in a text; both numbers begin at 1. */
export type Place = { line: number; col: number }

/** A parsed file of a document. */
export type Source = {
  /** Its absolute path, or the URL that the user named. */
  file: string
  text: string
  /** Its value: plain JSON with bigints, as of `parseExactJson`, in which no two places share an object. */
  value: unknown
  /** Whether Redocly's own parser may read it otherwise, because it has merge keys. */
  hasMerges: boolean
  /**
   * Returns the place of the value at some keys, or of its key; of the closest value above it if there is none. Throws a
   * SourceError if a key is there twice.
   */
  placeOf(keys: string[], onKey?: boolean): Place
  /** Returns the text of a scalar as the file writes it, without quotes; undefined if there is none. */
  textAt(keys: string[]): string | undefined
  /** Returns where the value at some keys begins and ends in the given text; undefined if there is none. */
  rangeOf(keys: string[]): [begin: number, end: number] | undefined
}

/** A file that cannot be read; its message is one line that names the file. */
export class SourceError extends Error {
  override readonly name: string = 'SourceError'
  readonly kind: Refused = 'unreadable-text'
}

/** A document that exceeds a limit. */
export class LimitError extends SourceError {
  override readonly kind = 'exceeded-limit'
}

/** The greatest number of values of a file after each alias of YAML is replaced by what it stands for. */
const valuesLimit = 5_000_000

function rejectAliases(name: string): never {
  throw new SourceError(`${name}: its aliases stand for more than ${valuesLimit} values; write fewer`)
}

/** The first `&` is the sign of an anchor, or part of a text. */
const mayHaveAliases = (text: string): boolean => text.includes('&')

/**
 * Parses a file as JSON or YAML 1.2, also with the merge keys of YAML 1.1 (https://yaml.org/type/merge.html), over which
 * explicit keys win. Throws a SourceError.
 *
 * @param name The path of the file in messages.
 */
export function parseSource(file: string, given: string, name: string): Source {
  // A carriage return alone ends a line too (YAML 1.2.2 section 5.4), which the parsers do not know.
  const { text, json } = withoutComments(given.replace(/^\uFEFF/, '').replace(/\r(?!\n)/g, '\n'))
  const nodes = once(() => parseYaml(text, name))
  // The YAML parser reads JSON too, and finds the place of a repeated key.
  if (json?.isRepeating) nodes()
  const read = json ?? withinStack(name, () => readYaml(text, valuesLimit, () => rejectAliases(name)))
  const begins = once(() => lineBegins(text))
  return {
    file,
    text,
    // What one parser does not read, the other one explains, or reads.
    value: read === undefined ? plainValue(nodes(), text, name) : read.value,
    hasMerges: json === undefined && text.includes('<<'),
    placeOf(keys, onKey = false) {
      return read ? placeAt(begins(), offsetOf(read.values, keys, onKey)) : placeIn(nodes(), keys, onKey)
    },
    textAt: (keys) => (read === undefined ? textIn(nodes(), keys) : scalarAt(read.values, keys)),
    rangeOf: (keys) => rangeIn(nodes(), keys, given.startsWith('\uFEFF') ? 1 : 0),
  }
}

/** Returns a function that returns what `make` returned when it was called first. */
function once<Made>(make: () => Made): () => Made {
  let made: { value: Made } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Returns the offsets of the first characters of the lines of a text. */
function lineBegins(text: string): number[] {
  const begins = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) begins.push(at + 1)
  return begins
}

/** Returns the place of an offset in a text with these beginnings of lines. */
function placeAt(begins: number[], offset: number): Place {
  let [line, end] = [0, begins.length]
  while (end - line > 1) {
    const middle = (line + end) >> 1
    if ((begins[middle] as number) > offset) end = middle
    else line = middle
  }
  return { line: line + 1, col: offset - (begins[line] as number) + 1 }
}

/** The tags of YAML 1.1 whose values JSON does not have. */
const beyondJson = /:(?:timestamp|binary|set|omap|pairs)$/

type Parsed = { document: ReturnType<typeof parseDocument>; lines: LineCounter }

function parseYaml(text: string, name: string): Parsed {
  const lines = new LineCounter()
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
  const parsed = withinStack(name, () => ({ document: parseDocument(text, options), lines }))
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

/** Returns the text of a place, FILE:LINE:COLUMN. */
export const placeText = (name: string, { line, col }: Place): string => `${name}:${line}:${col}`

const tooDeep = (name: string) => new SourceError(`${name}: values are nested too deeply; flatten them`)

/** Returns what `parse` returns. Throws a SourceError if it overflows the stack. */
export function withinStack<Result>(name: string, parse: () => Result): Result {
  try {
    return parse()
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(name)
    throw error
  }
}

/**
 * Returns the key of a pair as a member of an object is named; undefined for a merge key. The parser's own check of keys
 * compares every pair, and takes 404 and "404" for different keys.
 */
function keyOf({ key }: Pair): string | undefined {
  const value = isScalar(key) ? key.value : key
  if (typeof value === 'symbol') return undefined
  return value === null ? '' : String(value)
}

/** Returns the first key that a map holds a second time, with its range. */
function secondKey(root: unknown): { key: string; range: Node['range'] } | undefined {
  const waiting: unknown[] = [root]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (!isMap(node) && !isSeq(node)) continue
    const keys = new Set<string>()
    for (const item of node.items) {
      if (!isPair(item)) {
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
    if (isAlias(node)) return anchored.has(node.source) ? undefined : node.range?.[0]
    if (!isNode(node)) return undefined
    if (node.anchor !== undefined) anchored.set(node.anchor, node)
    if (isSeq(node)) return first(node.items, visit)
    return isMap(node) ? first(node.items, visitPair) : undefined
  }
  const visitPair = (pair: Pair): number | undefined => {
    const { value } = pair
    const found = visit(value)
    const merged = keyOf(pair) === undefined ? (isSeq(value) ? value.items : [value]) : []
    const isMerged = merged.every((each) => isMap(isAlias(each) ? anchored.get(each.source) : each))
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
  visit(document, {
    Scalar(key, node) {
      const { source = '', value } = node
      if (key === 'key' || typeof value !== 'number' || Number.isSafeInteger(value)) return
      node.value = wideInteger(digitsOf(source)) ?? value
    },
  })
}

/** Returns the value of a parsed text, in which each alias has a copy of what it stands for. */
function plainValue({ document, lines }: Parsed, text: string, name: string): unknown {
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

function placeIn({ document, lines }: Parsed, keys: string[], onKey = false): Place {
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

function textIn({ document }: Parsed, keys: string[]): string | undefined {
  let node = document.contents as Node | null
  for (const each of keys) node = memberOf(document, node, each)?.value ?? null
  return isScalar(node) ? node.source : undefined
}

function rangeIn({ document }: Parsed, keys: string[], offset: number): [number, number] | undefined {
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
  const node = isAlias(given) ? given.resolve(document) : given
  if (isSeq(node)) return Object.hasOwn(node.items, key) ? { value: node.items[Number(key)] as Node } : undefined
  if (!isMap(node)) return undefined
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
    .flatMap(({ value }) => (isSeq(value) ? value.items : [value]) as Node[])
