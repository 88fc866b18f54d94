import { isNode, type Node } from '../../document/walk-document.ts'
import type { Location } from '../json-path.ts'
import type { Source } from '../read-source.ts'
import { LimitError, type Place } from '../source-error.ts'
import { overlayLimits } from './overlay-file.ts'

/** Where a value was written: in the file that is overlaid, or in an overlay. */
export type Origin = { source: Source; keys: string[] }

/** A list or an object. */
export type Holder = unknown[] | Node

export const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null

/** The value of a file while overlays change it, in place, with the origin of each of its parts. */
export class OverlaidValue {
  readonly value: unknown
  /** Whether the value may hold a bigint. */
  hasBigints = false
  readonly #source: Source
  /** The origins of members whose origin is not at their key in the origin of their holder. */
  readonly #moved = new WeakMap<Holder, Map<string, Origin>>()
  #count = 0

  constructor(source: Source) {
    this.#source = source
    // The value of a source belongs to it alone, and no two places share an object.
    this.value = source.value
    this.#visit(source.value)
  }

  #visit(value: unknown): void {
    if (typeof value === 'bigint') this.hasBigints = true
    if (isHolder(value)) for (const member of Object.values(value)) this.#visit(member)
  }

  /** Returns the value at a location, or undefined if there is none. */
  at(location: Location): unknown {
    let value = this.value
    for (const key of location) value = isHolder(value) && Object.hasOwn(value, key) ? memberOf(value, key) : undefined
    return value
  }

  /** Returns the origin of the value at a location, or of the closest value above it; `isWhole` tells which of both. */
  originOf(location: Location): Origin & { isWhole: boolean } {
    let [source, keys, value] = [this.#source, [] as string[], this.value]
    for (const key of location) {
      if (!isHolder(value) || !Object.hasOwn(value, key)) return { source, keys, isWhole: false }
      const moved = this.#moved.get(value)?.get(key)
      if (moved === undefined) keys.push(key)
      else {
        source = moved.source
        keys = [...moved.keys]
      }
      value = memberOf(value, key)
    }
    return { source, keys, isWhole: true }
  }

  /** Returns a copy of a value, with the origins of its parts. Throws a LimitError if overlays add too many values. */
  copyOf(value: unknown): unknown {
    if (++this.#count > overlayLimits.values)
      throw new LimitError(`the overlays add more than ${overlayLimits.values} values; select fewer, or add less`)
    if (typeof value === 'bigint') this.hasBigints = true
    if (!isHolder(value)) return value
    const copy: Holder = Array.isArray(value) ? value.map((item) => this.copyOf(item)) : {}
    if (isNode(value)) for (const [name, member] of Object.entries(value)) setMember(copy, name, this.copyOf(member))
    const moved = this.#moved.get(value)
    if (moved !== undefined) this.#moved.set(copy, new Map(moved))
    return copy
  }

  /** Returns the origin of a member of a copied holder. */
  memberOrigin(holder: Holder, key: string, { source, keys }: Origin): Origin {
    return this.#moved.get(holder)?.get(key) ?? { source, keys: [...keys, key] }
  }

  /** Sets a member of an object, or an item of a list, which is not shared with another place. */
  set(holder: Holder, key: string, value: unknown, origin: Origin): void {
    setMember(holder, key, value)
    const moved = this.#moved.get(holder) ?? new Map<string, Origin>()
    this.#moved.set(holder, moved.set(key, origin))
  }

  /** Removes the values at locations. */
  remove(locations: Location[]): void {
    const removals = new Map<Holder, { at: Location; keys: Set<string> }>()
    for (const location of locations) {
      const at = location.slice(0, -1)
      const holder = this.at(at) as Holder
      const keys = removals.get(holder)?.keys ?? new Set()
      removals.set(holder, { at, keys: keys.add(location.at(-1) as string) })
    }
    // A removal moves the items of a list, so that locations lead elsewhere afterwards.
    const origins = new Map(
      Array.from(removals, ([holder, { at, keys }]) => [
        holder,
        Array.isArray(holder) ? this.#kept(holder, at, keys) : [],
      ]),
    )
    for (const [holder, { keys }] of removals) {
      const kept = origins.get(holder) as [unknown, Origin][]
      if (Array.isArray(holder)) {
        for (const [index, [item]] of kept.entries()) holder[index] = item
        holder.length = kept.length
        this.#moved.set(holder, new Map(kept.map(([, origin], index) => [String(index), origin])))
      } else for (const key of keys) this.#removeMember(holder, key)
    }
  }

  #kept(list: unknown[], at: Location, removed: Set<string>): [item: unknown, origin: Origin][] {
    return list.flatMap((item, index) =>
      removed.has(String(index)) ? [] : [[item, this.originOf([...at, String(index)])] as [unknown, Origin]],
    )
  }

  #removeMember(node: Node, key: string): void {
    delete node[key]
    this.#moved.get(node)?.delete(key)
  }

  /** Returns the file with the value that overlays have made of it, and with the places of its parts. */
  sourceOf(nameOf: (source: Source) => string): Source {
    const placeOf = (keys: string[], onKey?: boolean): Place => {
      const { source, keys: own } = this.originOf(keys)
      const place = source.placeOf(own, onKey)
      return source === this.#source ? place : { ...place, name: nameOf(source) }
    }
    const textAt = (keys: string[]): string | undefined => {
      const { source, keys: own, isWhole } = this.originOf(keys)
      return isWhole ? source.textAt(own) : undefined
    }
    return { ...this.#source, value: this.value, isChanged: true, placeOf, textAt }
  }
}

const memberOf = (holder: Holder, key: string): unknown => (holder as Node)[key]

/** Sets a member; an assignment would set the prototype. */
export function setMember(holder: Holder, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true })
  else (holder as Node)[name] = value
}
