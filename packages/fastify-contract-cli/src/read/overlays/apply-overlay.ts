import { isNode, type Node } from '../../document/walk-document.ts'
import { shownName } from '../file-text.ts'
import { isTooDeep, type Location, locationsOf } from '../json-path.ts'
import type { Source } from '../read-source.ts'
import { LimitError, OverlayError, placeText } from '../source-error.ts'
import { type Holder, isHolder, type Origin, type OverlaidValue } from './overlaid-value.ts'
import type { Action, Overlay } from './overlay-file.ts'

/** Called with what an action without an effect is, and the place of its target. */
export type Idle = (text: string, place: string) => void

/** Applies the actions of an overlay in their order. Throws a SourceError for one that does not fit. */
export function applyOverlay({ source, actions }: Overlay, value: OverlaidValue, idle: Idle): void {
  for (const [index, action] of actions.entries())
    new Application(value, source, ['actions', `${index}`], idle).apply(action)
}

/** What kinds of values an update merges: two objects, two lists, or two primitive values. */
const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'a list' : isNode(value) ? 'an object' : 'a primitive value'

/** One action that is applied. */
class Application {
  readonly #value: OverlaidValue
  readonly #source: Source
  readonly #keys: string[]
  readonly #idle: Idle

  constructor(value: OverlaidValue, source: Source, keys: string[], idle: Idle) {
    this.#value = value
    this.#source = source
    this.#keys = keys
    this.#idle = idle
  }

  apply(action: Action): void {
    const targets = this.#select(action.target, 'target')
    if (targets.length === 0)
      this.#idle(`target ${action.target} selects nothing; correct it, or remove the action`, this.#at('target'))
    else if (action.remove === true) this.#remove(targets)
    else this.#updateAll(targets, action)
  }

  #updateAll(targets: Location[], action: Action): void {
    const given = this.#given(action)
    if (given === undefined) {
      this.#idle('the action has neither update, copy nor remove: true; add one of them', this.#at('target'))
      return
    }
    this.#rejectMixed(targets)
    for (const target of targets) this.#update(target, this.#value.copyOf(given.value), given.origin)
  }

  /** Returns the value that is merged into each target; undefined if the action has none. */
  #given(action: Action): { value: unknown; origin: Origin } | undefined {
    if (Object.hasOwn(action, 'update'))
      return { value: action.update, origin: { source: this.#source, keys: [...this.#keys, 'update'] } }
    if (action.copy === undefined) return undefined
    const [from, ...others] = this.#select(action.copy, 'copy')
    if (from === undefined || others.length > 0)
      this.#fail('copy', `copy ${action.copy} selects ${others.length + (from ? 1 : 0)} values; select exactly one`)
    // The first target may be in the value, or the value in a target.
    return {
      value: this.#value.copyOf(this.#value.at(from as Location)),
      origin: this.#value.originOf(from as Location),
    }
  }

  #select(query: string, field: 'target' | 'copy'): Location[] {
    try {
      return locationsOf(query, this.#value.value, this.#value.hasBigints)
    } catch (error) {
      if (!isTooDeep(error)) throw error
      throw new LimitError(`${this.#at(field)}: ${query} descends too deeply; name more keys`)
    }
  }

  #remove(targets: Location[]): void {
    if (targets.some((target) => target.length === 0))
      this.#fail('target', 'the whole document cannot be removed; select a part of it')
    this.#value.remove(targets)
  }

  /** Rejects targets that are not all objects, all lists or all primitive values. */
  #rejectMixed(targets: Location[]): void {
    const [first = [], ...others] = targets
    const kind = kindOf(this.#value.at(first))
    const other = others.find((each) => kindOf(this.#value.at(each)) !== kind)
    if (other === undefined) return
    const text = `the target selects ${kind} (${this.#shown(first)}) and ${kindOf(this.#value.at(other))}`
    this.#fail('target', `${text} (${this.#shown(other)}); select only objects, only lists or only primitive values`)
  }

  #update(target: Location, value: unknown, origin: Origin): void {
    const old = this.#value.at(target)
    if (isNode(old) && isNode(value)) this.#merge(old, value, origin, target)
    else if (Array.isArray(old)) this.#append(old, value, origin)
    else if (!isHolder(old) && !isHolder(value)) this.#replace(target, value, origin)
    else this.#misfit(target, value, origin)
  }

  #merge(node: Node, given: Node, origin: Origin, at: Location): void {
    for (const [name, value] of Object.entries(given)) {
      const from = this.#value.memberOrigin(given, name, origin)
      const old = node[name]
      if (!Object.hasOwn(node, name)) this.#value.set(node, name, value, from)
      else if (isNode(old) && isNode(value)) this.#merge(old, value, from, [...at, name])
      else if (Array.isArray(old) && Array.isArray(value)) this.#append(old, value, from)
      else if (!isHolder(old) && !isHolder(value)) this.#value.set(node, name, value, from)
      else this.#misfit([...at, name], value, from)
    }
  }

  /** Appends the items of a list, or any other value as one item. */
  #append(list: unknown[], given: unknown, origin: Origin): void {
    const items = Array.isArray(given) ? given : [given]
    for (const [index, item] of items.entries()) {
      const from = items === given ? this.#value.memberOrigin(items, String(index), origin) : origin
      this.#value.set(list, String(list.length), item, from)
    }
  }

  #replace(target: Location, value: unknown, origin: Origin): void {
    const holder = this.#value.at(target.slice(0, -1)) as Holder
    this.#value.set(holder, target.at(-1) as string, value, origin)
  }

  #misfit(target: Location, value: unknown, { source, keys }: Origin): never {
    const place = this.#placeOf(source, keys)
    const own = this.#at('target')
    const found = `${kindOf(this.#value.at(target))} (${this.#shown(target)})`
    // A copied value has its place in the document.
    const at = source === this.#source ? place : own
    const given = source === this.#source ? kindOf(value) : `${kindOf(value)} (${place})`
    throw new OverlayError(`${at}: ${given} cannot be merged into ${found}; remove the old value by an action before`)
  }

  #shown(location: Location): string {
    const { source, keys } = this.#value.originOf(location)
    return this.#placeOf(source, keys)
  }

  #placeOf = (source: Source, keys: string[]): string => placeText(shownName(source.file), source.placeOf(keys))

  #at = (field: string): string => this.#placeOf(this.#source, [...this.#keys, field])

  #fail(field: string, text: string): never {
    throw new OverlayError(`${this.#at(field)}: ${text}`)
  }
}

/** Returns the error for overlays that take too long, or the given one. */
export function timeError(error: unknown, paths: string[], milliseconds: number): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') return error
  return new LimitError(
    `${paths.join(', ')}: the overlays take more than ${milliseconds / 1000} seconds; use fewer .. and simpler patterns`,
  )
}
