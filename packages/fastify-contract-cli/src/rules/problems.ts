import { join, keysOf, resolve } from '../document/json-pointer.ts'
import {
  type Document,
  isPointer,
  itemPointer,
  named,
  operationsIn,
  schemePointer,
} from '../document/openapi-document.ts'
import { isNode, mapEntries, memberOf, type Node, withoutKeys } from '../document/walk-document.ts'
import { expectedAt, walkReferences } from '../read/reference-walk.ts'
import { visible } from '../text/source-text.ts'
import { callbacksIn, isOfCallback } from './operation-callbacks.ts'

/** A location that the service cannot serve as the document describes it. */
export type Problem = {
  /** The pointer to the location. */
  pointer: string
  /** What is wrong, and the fix. */
  text: string
  /**
   * The operations and webhooks that cannot be served because of it, such as `GET /pets` and `webhook newPet`, and a path
   * such as `path /pets` if its operations are unknown; empty if the whole document cannot.
   */
  operations: string[]
}

const byPointer = new Intl.Collator('en', { numeric: true })

/** Returns whether a problem affects the whole document. */
export const isOfWhole = ({ operations }: Problem): boolean => operations.length === 0

/** Returns the operations that a problem affects. */
export const operationsOf = ({ operations }: Problem): string[] => operations

/** The number of operations that a problem affects. */
const costOf = ({ operations }: Problem): number => operations.length || Number.POSITIVE_INFINITY

/** Returns problems in the order of messages: those that cost most operations first. */
export const byCost = (problems: Problem[]): Problem[] =>
  [...problems].sort((one, other) => costOf(other) - costOf(one) || byPointer.compare(one.pointer, other.pointer))

/**
 * The error for a document that cannot be served. Its message has one line for each problem, those that cost most
 * operations first, and a summary.
 */
export class RejectedDocument extends Error {
  readonly problems: Problem[]
  readonly #path: string
  readonly #document: Document

  constructor(path: string, problems: Problem[], document: Document, placed: PlaceLine = (line) => line) {
    const sorted = byCost(problems)
    const lines = sorted.map(({ pointer, text }) => `  ${placed(`${pointer}: ${text}`, pointer)}`)
    super([`${path} cannot be served as written:`, ...lines, summaryOf(problems, document)].join('\n'))
    this.problems = sorted
    this.#path = path
    this.#document = document
  }

  /** Returns the same error with places in its message. */
  placed = (placed: PlaceLine): RejectedDocument =>
    new RejectedDocument(this.#path, this.problems, this.#document, placed)
}

/** Returns a line about a location with its place in a file of the document, if it is known. */
export type PlaceLine = (line: string, pointer: string) => string

/** The greatest number of lines that say the same of several locations. */
const repeatLimit = 3

/** Returns lines of rules, in which those that repeat a text more often than `repeatLimit` are counted. */
export function withoutRepeats(lines: string[]): string[] {
  const pointers = new Map<string, string[]>()
  for (const line of lines) {
    const pointer = pointerOf(line)
    const text = line.slice(pointer.length + 2)
    pointers.set(text, [...(pointers.get(text) ?? []), pointer])
  }
  const kept: string[] = []
  for (const [text, all] of pointers) {
    if (all.length > repeatLimit) kept.push(`${all[0]}: ${text} (also at ${all.length - 1} other locations)`)
    else for (const pointer of all) kept.push(`${pointer}: ${text}`)
  }
  return kept
}

function summaryOf(problems: Problem[], document: Document): string {
  const count = problems.length === 1 ? '1 problem affects' : `${problems.length} problems affect`
  if (problems.some(isOfWhole)) return `${count} the whole document`
  const lost = new Set(problems.flatMap(operationsOf)).size
  const all = operationReaches(document).length
  const fix = lost < all ? '; if you cannot correct them, --skip-unsupported serves the others' : ''
  const kind =
    named(Object((document as { webhooks?: Node }).webhooks)).length > 0 ? 'operations and webhooks' : 'operations'
  return `${count} ${lost} of ${all} ${kind}${fix}`
}

/** The problems of a document, and the lines about locations that no operation uses: those do not prevent serving it. */
export type Findings = { problems: Problem[]; unused: string[] }

/** Matches the pointers of locations that have an effect only through an operation or a webhook. */
const isOfOperations = /^#\/((paths|components|webhooks)\/|servers$|security$)/

/** Returns a function that sorts the lines of rules, in the form `POINTER: TEXT`, by what they cost. */
export function findingsIn(document: Document): (lines: string[]) => Findings {
  let all: Reach[] | undefined
  let leftOut: ((pointer: string) => string) | undefined
  return findingsOf

  function findingsOf(lines: string[]): Findings {
    const findings: Findings = { problems: [], unused: [] }
    for (const line of new Set(lines.map(visible))) {
      all ??= operationReaches(document)
      const pointer = pointerOf(line)
      const operations = operationsAt(all, pointer)
      if (operations.length === 0 && isOfOperations.test(pointer)) {
        leftOut ??= leftOutWith(document)
        findings.unused.push(`${line} (${leftOut(pointer)})`)
      } else findings.problems.push({ pointer, text: line.slice(pointer.length + 2), operations })
    }
    return findings
  }
}

/**
 * Returns the part of a document that can be served in spite of its problems: the operations without a problem, and the
 * components and webhooks that neither hold a location with one nor refer to it.
 */
export function soundPart(document: Document, { problems, unused }: Findings): Document {
  const names = new Set(problems.flatMap(operationsOf))
  const lost: Reach[] = []
  const needed: string[] = []
  for (const one of operationReaches(document)) {
    if (names.has(one.name)) lost.push(one)
    else needed.push(...one.pointers)
  }
  const pointers = unused.map(pointerOf)
  for (const { pointer } of [...problems, ...lost]) pointers.push(pointer)
  const targetsFrom = targetFinder(document)
  const isBroken = (location: string) => pointers.some((pointer) => isOf(location, pointer))
  const isUnsound = (location: string) => targetsFrom([location]).some(isBroken)
  const isNeeded = (location: string) => needed.some((pointer) => isWithin(pointer, location))
  /** Leaves out the members with a problem, but for the parts of them that a sound operation refers to. */
  function soundIn(held: unknown, pointer: string): Node {
    const entries: [string, unknown][] = []
    let isSame = isNode(held)
    for (const [name, member] of Object.entries(isNode(held) ? held : {})) {
      const location = join(pointer, name)
      const isSound = !isUnsound(location)
      isSame &&= isSound
      if (isSound) entries.push([name, member])
      else if (isNeeded(location)) entries.push([name, isNode(member) ? soundIn(member, location) : member])
    }
    return isSame ? (held as Node) : Object.fromEntries(entries)
  }
  const { webhooks, components, ...others } = document as Document & { webhooks?: Node; components?: Node }
  // An operation without servers or a security of its own refers to those of the document, and so is lost with them.
  const broken = ['servers', 'security'].filter((name) => isBroken(join('#', name)))
  const sound = {
    ...(withoutKeys(others, broken) as typeof others),
    paths: soundPaths(document, lost, isUnsound),
    ...(webhooks && { webhooks: soundIn(webhooks, '#/webhooks') }),
    ...(components && {
      components: mapEntries(components, (held, kind) =>
        memberOf('components', kind) === undefined ? held : soundIn(held, join('#', 'components', kind)),
      ),
    }),
  }
  return withoutBrokenCallbacks(sound, isBroken)
}

/** Returns a document without the callbacks that hold a location with a problem or refer to one. */
export function withoutUnusedCallbacks(document: Document, { unused }: Pick<Findings, 'unused'>): Document {
  const pointers = unused.map(pointerOf)
  if (pointers.length === 0) return document
  return withoutBrokenCallbacks(document, (location) => pointers.some((pointer) => isOf(location, pointer)))
}

function withoutBrokenCallbacks(document: Document, isBroken: (pointer: string) => boolean): Document {
  const targetsFrom = targetFinder(document)
  const isLost = (pointer: string) =>
    targetsFrom([pointer]).some((one) => isBroken(one) || resolve(document, one) === undefined)
  const lost = callbacksIn(document).filter(isLost)
  const outermost = lost.filter((one) => !lost.some((other) => one.startsWith(`${other}/`)))
  return outermost.reduce((rest, pointer) => without(rest, keysOf(pointer)), document as unknown as Node) as Document
}

/** Returns a function that tells what is left out with a location that no operation needs. */
function leftOutWith(document: Document): (pointer: string) => string {
  const targetsFrom = targetFinder(document)
  const targets = new Map<string, string[]>()
  for (const callback of callbacksIn(document)) targets.set(callback, targetsFrom([callback]))
  return effectOf

  function effectOf(pointer: string): string {
    const callbacks = [...targets.keys()]
    const [first, ...others] = callbacks.filter((one) => targets.get(one)?.some((each) => isOf(each, pointer)))
    if (first === undefined) return 'no operation uses it'
    const more = others.length === 0 ? 'is' : `and ${others.length} more are`
    return `so the callback ${keysOf(first).at(-1)} ${more} left out`
  }
}

/** Returns the paths of a document without the operations in `lost`, and without the paths that have no other. */
function soundPaths(
  document: Document,
  lost: Reach[],
  isUnsound: (pointer: string) => boolean,
): Record<string, object> {
  const paths = { ...document.paths } as Record<string, Node>
  for (const { path, item, keys } of lost) {
    if (keys.length === 0) continue
    const { $ref, ...own } = paths[path] as Node
    paths[path] = without($ref === undefined ? own : { ...item, ...own }, keys)
  }
  const affected = new Set<string>()
  for (const { path, pointer } of lost) affected.add(path).add(pointer)
  const kept: [string, object][] = []
  for (const [path, item] of Object.entries(paths)) {
    const own = join('#', 'paths', path)
    const hasOperations = path.startsWith('/') && operationsIn(Object(item)).length > 0
    if (!affected.has(own) && (hasOperations || !(affected.has(path) || isUnsound(own)))) kept.push([path, item])
  }
  return Object.fromEntries(kept)
}

/** Returns the pointer of a line, which precedes its text. */
export const pointerOf = (line: string): string => line.slice(0, line.indexOf(': '))

function without(node: Node, [key = '', ...below]: string[]): Node {
  const { [key]: value, ...others } = node
  return below.length === 0 ? others : { ...others, [key]: without(value as Node, below) }
}

const isWithin = (pointer: string, other: string): boolean => pointer === other || pointer.startsWith(`${other}/`)

/**
 * Returns whether a location holds another one or is a part of it. A callback is no part of the operation that has it: the
 * service never uses it.
 */
const isOf = (one: string, other: string): boolean =>
  isWithin(one, other) || (isWithin(other, one) && !isOfCallback(other, one))

/**
 * An operation, a webhook or a path item without a target, and the locations that it consists of: its own and all that it
 * refers to.
 */
type Reach = { name: string; path: string; item: Node; keys: string[]; pointer: string; pointers: string[] }

/** Returns the operations that hold a location or refer to it, and those that refer to a part of such an operation. */
function operationsAt(all: Reach[], pointer: string): string[] {
  const lost = new Set(all.filter(({ pointers }) => pointers.some((one) => isOf(one, pointer))))
  // Iteration over a Set includes the elements that are added meanwhile.
  for (const { pointer } of lost) {
    for (const one of all) if (one.pointers.some((each) => isWithin(each, pointer))) lost.add(one)
  }
  return Array.from(lost, ({ name }) => name)
}

/** By document: the operations, and the locations that each reference leads to. No stage changes a document. */
const knownReaches = new WeakMap<Document, Reach[]>()
const knownTargets = new WeakMap<Document, Map<string, string[]>>()

/** Returns the operations and webhooks of a document with the locations of each. The structure may be invalid. */
function operationReaches(document: Document): Reach[] {
  const reaches = knownReaches.get(document) ?? reachesOf(document)
  knownReaches.set(document, reaches)
  return reaches
}

function reachesOf(document: Document): Reach[] {
  const targetsFrom = targetFinder(document)
  const { paths, webhooks, security, servers } = document as unknown as Record<string, unknown>
  const all: Reach[] = []
  for (const path of Object.keys(Object(paths))) {
    if (!path.startsWith('/')) continue
    const own = join('#', 'paths', path)
    const at = itemPointer(document, own)
    if (at === undefined) {
      // The operations of a path item without a target are unknown.
      all.push({ name: `path ${path}`, path, item: {}, keys: [], pointer: own, pointers: targetsFrom([own]) })
      continue
    }
    const item = resolve(document, at) as Node
    for (const { method, keys } of operationsIn(item)) {
      const pointer = join(at, ...keys)
      const pointers = targetsFrom(rootsOf(Object(resolve(document, pointer)), item, [at, own], keys))
      all.push({ name: `${method} ${path}`, path, item, keys, pointer, pointers })
    }
  }
  for (const path of named(Object(webhooks))) {
    const pointer = join('#', 'webhooks', path)
    all.push({ name: `webhook ${path}`, path, item: {}, keys: [], pointer, pointers: targetsFrom([pointer]) })
  }
  return all

  /** Returns the locations that an operation consists of, but for what it refers to. */
  function rootsOf(operation: Node, item: Node, items: string[], keys: string[]): string[] {
    const roots: string[] = []
    for (const below of [keys, ['parameters'], ['servers']]) for (const one of items) roots.push(join(one, ...below))
    for (const requirement of [operation.security ?? security].flat())
      roots.push(...Object.keys(Object(requirement)).map(schemePointer))
    if (operation.security === undefined && security !== undefined) roots.push('#/security')
    if (servers !== undefined && (operation.servers ?? item.servers) === undefined) roots.push('#/servers')
    return roots
  }
}

/** Returns a function that returns some pointers and the targets of all references below them, at any distance. */
function targetFinder(document: Document): (pointers: string[]) => string[] {
  const known = knownTargets.get(document) ?? new Map<string, string[]>()
  knownTargets.set(document, known)
  return targetsFrom

  function targetsFrom(pointers: string[]): string[] {
    const reached = new Set(pointers)
    // Iteration over a Set includes the elements that are added meanwhile.
    for (const pointer of reached) {
      const below = known.get(pointer) ?? referencesIn(document, pointer)
      known.set(pointer, below)
      for (const target of below) reached.add(target)
    }
    return [...reached]
  }
}

function referencesIn(document: Document, pointer: string): string[] {
  const found: string[] = []
  const ignore = () => {}
  walkReferences(resolve(document, pointer), expectedAt(keysOf(pointer)), pointer, noResource, {
    reference: ({ text, isMapping, pointer: at }) =>
      isMapping || !isPointer(text) || isOfCallback(at, pointer) || found.push(join('#', ...keysOf(text))),
    external: ignore,
    data: ignore,
    schema: ignore,
  })
  return found
}

const noResource = { uri: 'file:///', pointer: '#' }
