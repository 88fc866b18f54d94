import { createHash } from 'node:crypto'
import { join, keysOf, resolve } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import {
  type At,
  eachHeld,
  hasShape,
  isNode,
  type Kind,
  type Member,
  memberOf,
  type Node,
  walk,
} from '../document/walk-document.ts'
import { withoutText } from './aligned-unions.ts'
import { alternativesName } from './comparable-document.ts'
import { isReference, isReferring, pointersIn } from './merge-parts.ts'
import { type PointerMap, pointerMap } from './pointer-map.ts'

/** The name of the member of a document that holds the parameters of its operations. */
const parametersName = 'x-named-parameters'

/**
 * Returns whether a pointer is the location of an item itself. That such a location is new or gone changes nothing: the
 * lists that refer to it are compared.
 */
export const isItem = (pointer: string): boolean =>
  [parametersName, alternativesName].some((name) => new RegExp(`^#/${name}/[^/]+$`).test(pointer))

/**
 * Replaces each parameter of an operation, and each inline schema of a list, such as a union, by a reference, in place. redocly diff
 * pairs the items of a list by their reference, or else by the similarity of their text. The reference depends on the name
 * of the parameter, or on the schema without its documentation, so that another description does not look like another
 * item. Items of a list that the other document does not have at `lists` stay, since redocly diff may compare them with
 * those of a list elsewhere. Returns the earlier pointers.
 */
export function nameItems(document: Document, lists: Set<string>): PointerMap {
  const origins = pointerMap()
  const targets = pointersIn(document)
  const isTarget = (pointer: string) => targets.some((target) => target === pointer || target.startsWith(`${pointer}/`))
  const holders: Node = { [alternativesName]: {}, ...document, [parametersName]: {} }

  /** Names the items below an object; `place` is its pointer with named items, `pointer` the one without. */
  function visit(node: Node, kind: Kind, pointer: string, place: string): void {
    for (const [member, value] of Object.entries(node)) {
      const below = memberOf(kind, member)
      if (below === undefined || !hasShape(value, below)) continue
      eachHeld(value, below, join('', member), nameHeld)

      function nameHeld(held: unknown, keys: string): void {
        if (!isNode(held) || below === undefined) return
        const identity = identityOf(document, held, below)
        const from = pointer + keys
        const kept = below.kind === 'parameter' ? parametersName : alternativesName
        const holder = holders[kept] as Node
        const name = digest(`${join(place, member)} ${identity}`)
        const isNamed = identity !== undefined && lists.has(pointer) && !Object.hasOwn(holder, name) && !isTarget(from)
        const to = isNamed ? join('#', kept, name) : place + keys
        visit(held, below.kind, from, to)
        if (!isNamed) return
        holder[name] = held
        origins.set(to, [from])
        ;(value as Node)[keysOf(keys).at(-1) as string] = { $ref: to }
      }
    }
  }

  visit(document, 'document', '#', '#')
  for (const [name, schema] of Object.entries(holders[alternativesName] as Node)) {
    const pointer = join('#', alternativesName, name)
    if (isNode(schema) && origins.get(pointer)[0] === pointer) visit(schema, 'schema', pointer, pointer)
  }
  Object.assign(document, holders)
  return origins
}

/** Returns the pointers of the objects of a document that hold lists of parameters or schemas. */
export function listsIn(document: Document): Set<string> {
  const found = new Set<string>()
  const add = (node: Node, kind: Kind, at: At) => {
    const holds = (name: string) => memberOf(kind, name)?.shape === 'list' && Array.isArray(node[name])
    if (Object.keys(node).some(holds)) found.add(at())
  }
  walk(document as Node, 'document', '#', add)
  for (const [name, schema] of Object.entries(Object((document as Node)[alternativesName]) as Node)) {
    if (isNode(schema)) walk(schema, 'schema', join('#', alternativesName, name), add)
  }
  return found
}

/** Returns what identifies an item of a list of parameters or alternatives; undefined for other objects. */
function identityOf(document: Document, held: Node, { shape, kind }: Member): string | undefined {
  if (shape !== 'list') return undefined
  if (kind === 'parameter') {
    const { in: location, name } = targetIn(document, held)
    return typeof name === 'string' ? `${location} ${name}` : undefined
  }
  if (kind !== 'schema' || isReference(held)) return undefined
  return createHash('sha256')
    .update(sortedJson(withoutText(held)))
    .digest('base64url')
}

/** Returns a name that resembles no other one: redocly diff also pairs members with similar names. */
const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Returns the object that a chain of references leads to; an empty object if it leads nowhere. */
function targetIn(document: Document, node: Node): Node {
  const seen = new Set<string>()
  for (let found: unknown = node; ; found = resolve(document, [...seen].at(-1) as string)) {
    if (!isReferring(found)) return Object(found)
    if (seen.has(found.$ref)) return {}
    seen.add(found.$ref)
  }
}

/** Returns the JSON text of a value with the members of each object in the order of their names. */
const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_, held) =>
    isNode(held) ? Object.fromEntries(Object.entries(held).sort(([one], [other]) => (one < other ? -1 : 1))) : held,
  )
