import { basename } from 'node:path'
import { join, keysOf, resolve as valueAt } from '../document/json-pointer.ts'
import { isNode, type Kind, type Node } from '../document/walk-document.ts'
import type { Location } from './reference-targets.ts'
import { location, type ReferenceTarget, type Sources } from './source-files.ts'

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
const annotations = new Set('$ref summary description title deprecated example examples externalDocs'.split(' '))

/** A component that the document gets from another file. */
type Added = { group: string; name: string; origin: Location }

/** The names of the components of a document with several files. */
export class ComponentNames {
  readonly #sources: Sources
  readonly #root: string
  /** The source locations of the components of each group, by name. */
  readonly #taken = new Map<string, Map<string, Location>>()
  /** The names of locations in each group. */
  readonly #names = new Map<string, string>()
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
    const key = `${group}\n${location(origin.file, origin.pointer)}`
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const taken = this.#takenIn(group)
    const own = ownName(origin)
    const wanted = own.replace(/[^\w.-]/g, '-')
    let name = wanted
    for (let number = 2; ; number++) {
      const other = taken.get(name)
      if (other === undefined || this.#isSame(other, origin)) break
      name = `${wanted}-${number}`
    }
    this.#names.set(key, name)
    if (!taken.has(name)) {
      taken.set(name, origin)
      this.added.push({ group, name, origin })
      if (group === 'schemas' && name !== own) this.renamed.set(name, own)
    }
    return name
  }

  /** Returns the components of the first file, whose maps may be in other files. */
  #takenIn(group: string): Map<string, Location> {
    const known = this.#taken.get(group)
    if (known !== undefined) return known
    const holder = ['components', group].reduce(
      ({ file, pointer }, key) => this.#end({ file, pointer: join(pointer, key) }),
      this.#end({ file: this.#root, pointer: '#' }),
    )
    const names = Object.keys(Object(this.#valueAt(holder)))
    const taken = new Map(
      names.map((name) => [name, { file: holder.file, pointer: join(holder.pointer, name) }] as const),
    )
    this.#taken.set(group, taken)
    return taken
  }

  #valueAt = ({ file, pointer }: Location): unknown => valueAt(Object(this.#sources.files.get(file)?.value), pointer)

  #targetAt = ({ file, pointer }: Location): ReferenceTarget | undefined =>
    this.#sources.targets.get(location(file, pointer))

  /** Returns the location at the end of a chain of references that have nothing but annotations beside them. */
  #end(given: Location): Location {
    let found = given
    // A chain without end has no targets.
    for (let target = this.#targetAt(found); target !== undefined; target = this.#targetAt(found)) {
      const isPlain = Object.keys(Object(this.#valueAt(found))).every(
        (key) => annotations.has(key) || key.startsWith('x-'),
      )
      if (!isPlain) break
      found = target
    }
    return { file: found.file, pointer: found.pointer }
  }

  /** Returns whether two locations have the same object, or equal ones. */
  #isSame(one: Location, other: Location): boolean {
    const [a, b] = [this.#end(one), this.#end(other)]
    return (a.file === b.file && a.pointer === b.pointer) || this.#isEqual(a, b, new Set())
  }

  /** Returns whether two locations have equal values, whose references lead to equal values. */
  #isEqual(one: Location, other: Location, assumed: Set<string>): boolean {
    const pair = `${location(one.file, one.pointer)}\n${location(other.file, other.pointer)}`
    if (assumed.has(pair)) return true
    const [a, b] = [this.#targetAt(one), this.#targetAt(other)]
    const [left, right] = [this.#valueAt(one), this.#valueAt(other)]
    if (a !== undefined || b !== undefined) {
      assumed.add(pair)
      if (a === undefined || b === undefined || !this.#isEqual(a, b, assumed)) return false
      // The texts of the references may differ.
      return !isNode(left) || !isNode(right) || this.#areEqual(rest(left), rest(right), one, other, assumed)
    }
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return left === right
    if (Array.isArray(left) !== Array.isArray(right)) return false
    return this.#areEqual(left as Node, right as Node, one, other, assumed)
  }

  #areEqual(left: Node, right: Node, one: Location, other: Location, assumed: Set<string>): boolean {
    const keys = Object.keys(left)
    const below = ({ file, pointer }: Location, key: string) => ({ file, pointer: join(pointer, key) })
    return (
      keys.length === Object.keys(right).length &&
      keys.every((key) => Object.hasOwn(right, key) && this.#isEqual(below(one, key), below(other, key), assumed))
    )
  }
}

const rest = ({ $ref: _, ...others }: Node): Node => others

/** Returns the name of a location in its file: its last key, or for a whole file the name of the file. */
function ownName({ file, pointer }: Location): string {
  return keysOf(pointer).at(-1) ?? basename(file).replace(/\.[^.]*$/, '')
}
