import { basename } from 'node:path'
import { documentationKeywords } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { join, keysOf, resolve as valueAt } from '../document/json-pointer.ts'
import type { Kind, Node } from '../document/walk-document.ts'
import { type Location, location } from './reference-targets.ts'
import type { ReferenceTarget, Sources } from './source-files.ts'

/** The members of the Components Object that hold the objects of each kind. */
export const componentGroups: Partial<Record<Kind, string>> = {
  schema: 'schemas',
  response: 'responses',
  parameter: 'parameters',
  example: 'examples',
  requestBody: 'requestBodies',
  header: 'headers',
  securityScheme: 'securitySchemes',
  callback: 'callbacks',
}

/** Members beside a reference that change nothing: an object with these and a reference is its target. */
const harmless = new Set(['$ref', 'summary', 'deprecated', ...documentationKeywords])

/** A component that the document gets from another file. */
type Added = { group: string; name: string; origin: Location }

/** The components that have the same name in their files: their names in the document, by what they are. */
type Family = { names: Map<string, string>; alike: Map<string, Location[]>; count: number }

/** The names of the components of a document with several files. */
export class ComponentNames {
  readonly #sources: Sources
  readonly #root: string
  /** The source locations of the components of each group of the first file, by name. */
  readonly #own = new Map<string, Map<string, Location>>()
  readonly #taken = new Set<string>()
  readonly #families = new Map<string, Family>()
  readonly #ends = new Map<string, Location>()
  /** For a location, another one with an equal value. */
  readonly #equal = new Map<string, string>()
  readonly added: Added[] = []
  /** The schemas with another name than in their own files, by their names in the document. */
  readonly renamed = new Map<string, string>()

  constructor(sources: Sources) {
    this.#sources = sources
    const [root = ''] = sources.files.keys()
    this.#root = root
  }

  /** Returns the name of a location in a group: the one in its file, with a number if another component has it. */
  nameOf(group: string, origin: Location): string {
    const own = ownName(origin)
    const wanted = own.replace(/[^\w.-]/g, '-')
    const family = this.#familyOf(group, wanted)
    const end = this.#end(origin)
    const key = location(end.file, end.pointer)
    const known = family.names.get(key)
    if (known !== undefined) return known
    const alike = this.#alikeIn(family, end)
    const equal = alike.find((other) => this.#isEqual(other, end))
    if (equal !== undefined) {
      const name = family.names.get(location(equal.file, equal.pointer)) as string
      family.names.set(key, name)
      return name
    }
    let name = wanted
    while (this.#ownIn(group).has(name) || this.#taken.has(`${group}/${name}`)) name = `${wanted}-${++family.count}`
    this.#taken.add(`${group}/${name}`)
    family.names.set(key, name)
    alike.push(end)
    this.added.push({ group, name, origin })
    if (group === 'schemas' && name !== own) this.renamed.set(name, own)
    return name
  }

  #familyOf(group: string, wanted: string): Family {
    const key = `${group}/${wanted}`
    const known = this.#families.get(key)
    if (known !== undefined) return known
    const family: Family = { names: new Map(), alike: new Map(), count: 1 }
    this.#families.set(key, family)
    const first = this.#ownIn(group).get(wanted)
    if (first !== undefined) {
      const end = this.#end(first)
      family.names.set(location(end.file, end.pointer), wanted)
      this.#alikeIn(family, end).push(end)
    }
    return family
  }

  /** Returns the members of a family whose values are equal but for their references. */
  #alikeIn({ alike }: Family, end: Location): Location[] {
    const shape = this.#shapeOf(end)
    const found = alike.get(shape) ?? []
    alike.set(shape, found)
    return found
  }

  /** Returns a text that equal values have in common. */
  #shapeOf({ file, pointer }: Location): string {
    const value = this.#valueAt({ file, pointer })
    if (typeof value !== 'object' || value === null) return stringifyJson(value) ?? ''
    const isReference = this.#targetAt({ file, pointer }) !== undefined
    const members: string[] = []
    for (const [key, held] of Object.entries(value)) {
      if (isReference && key === '$ref') continue
      const at = { file, pointer: join(pointer, key) }
      const isObject = typeof held === 'object' && held !== null
      const shape = isObject ? this.#shapeOf(at) : this.#targetAt(at) === undefined ? stringifyJson(held) : ''
      members.push(`${JSON.stringify(key)}:${shape}`)
    }
    return `${Array.isArray(value) ? 'list' : isReference ? 'reference' : 'object'}{${members.sort().join()}}`
  }

  /** Returns the components of the first file, whose maps may be in other files. */
  #ownIn(group: string): Map<string, Location> {
    const known = this.#own.get(group)
    if (known !== undefined) return known
    const holder = ['components', group].reduce(
      ({ file, pointer }, key) => this.#end({ file, pointer: join(pointer, key) }),
      this.#end({ file: this.#root, pointer: '#' }),
    )
    const names = Object.keys(Object(this.#valueAt(holder)))
    const own = new Map(
      names.map((name) => [name, { file: holder.file, pointer: join(holder.pointer, name) }] as const),
    )
    this.#own.set(group, own)
    return own
  }

  #valueAt = ({ file, pointer }: Location): unknown => valueAt(Object(this.#sources.files.get(file)?.value), pointer)

  #targetAt = ({ file, pointer }: Location): ReferenceTarget | undefined =>
    this.#sources.targets.get(location(file, pointer))

  /** Returns the location at the end of a chain of references that have nothing but harmless members beside them. */
  #end(given: Location): Location {
    const start = location(given.file, given.pointer)
    const known = this.#ends.get(start)
    if (known !== undefined) return known
    let found = given
    // A chain without end has no targets.
    for (let target = this.#targetAt(found); target !== undefined; target = this.#targetAt(found)) {
      const keys = Object.keys(Object(this.#valueAt(found)))
      if (!keys.every((key) => harmless.has(key) || key.startsWith('x-'))) break
      found = target
    }
    const end = { file: found.file, pointer: found.pointer }
    this.#ends.set(start, end)
    return end
  }

  /** Returns whether two locations have equal values, whose references lead to equal values. */
  #isEqual(one: Location, other: Location): boolean {
    const pairs = new Map<string, [Location, Location]>()
    const compare = (a: Location, b: Location) => {
      const [left, right] = [this.#equalTo(a), this.#equalTo(b)]
      if (left !== right) pairs.set(`${left}\n${right}`, [a, b])
    }
    compare(one, other)
    // Iteration over a Map includes the entries that are added meanwhile.
    for (const [a, b] of pairs.values()) if (!this.#areEqual(a, b, compare)) return false
    for (const [a, b] of pairs.values()) this.#unite(this.#equalTo(a), this.#equalTo(b))
    return true
  }

  #unite(left: string, right: string): void {
    if (left !== right) this.#equal.set(right, left)
  }

  #equalTo = ({ file, pointer }: Location): string => this.#firstOf(location(file, pointer))

  /** Returns the same location for all locations that are known to have an equal value. */
  #firstOf(key: string): string {
    let first = key
    for (let next = this.#equal.get(first); next !== undefined; next = this.#equal.get(first)) first = next
    if (first !== key) this.#equal.set(key, first)
    return first
  }

  /** Returns whether two locations have equal values, and calls `compare` for the targets of their references. */
  #areEqual(one: Location, other: Location, compare: (one: Location, other: Location) => void): boolean {
    const [a, b] = [this.#targetAt(one), this.#targetAt(other)]
    const [left, right] = [this.#valueAt(one), this.#valueAt(other)]
    if ((a === undefined) !== (b === undefined)) return false
    if (a !== undefined && b !== undefined) compare(a, b)
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
      return a !== undefined || left === right
    const [own, others] = a === undefined ? [left as Node, right as Node] : [rest(left as Node), rest(right as Node)]
    const below = ({ file, pointer }: Location, key: string) => ({ file, pointer: join(pointer, key) })
    return (
      Array.isArray(left) === Array.isArray(right) &&
      Object.keys(own).length === Object.keys(others).length &&
      Object.keys(own).every(
        (key) => Object.hasOwn(others, key) && this.#areEqual(below(one, key), below(other, key), compare),
      )
    )
  }
}

const rest = ({ $ref: _, ...others }: Node): Node => others

/** Returns the name of a location in its file: its last key, or for a whole file the name of the file. */
function ownName({ file, pointer }: Location): string {
  return keysOf(pointer).at(-1) ?? basename(file).replace(/\.[^.]*$/, '')
}
