import { wideInteger } from 'fastify-contract/json'
import {
  type AliasEvent,
  EVENT_ID,
  getScalarValue,
  type MappingEvent,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml'
import { rejectAliases, valuesLimit, withinStack } from './source-error.ts'
import { type ReadText, sourcesOf, type TextValues } from './text-values.ts'
import { eventsIn } from './yaml-events.ts'

type ValueEvent = MappingEvent | SequenceEvent | ScalarEvent | AliasEvent

/** The values of YAML, with what is needed to read them. */
type YamlValues = TextValues & { list: ValueEvent[]; scalarOf(scalar: number): unknown; hasAliases: boolean }

/**
 * Reads YAML without tags and directives, several times faster than the parser of yaml-nodes.ts. Returns undefined for any
 * other text: that parser knows these, and says what is wrong. Throws a SourceError if the text overflows the stack, as it
 * would in that parser, too, or if its aliases stand for too many values.
 *
 * @param name The path of the file in messages.
 */
export function readYaml(text: string, name: string): ReadText | undefined {
  return withinStack(name, function read() {
    const values = yamlValues(text)
    if (values === undefined) return undefined
    const builder = new ValueBuilder(values, name)
    const value = builder.build(0)
    return builder.isWhole ? { value, values } : undefined
  })
}

/** Returns undefined for a text with tags, directives or several documents, and for an alias without a whole value. */
function yamlValues(text: string): YamlValues | undefined {
  const events = eventsIn(text)
  if (events === undefined) return undefined
  let documents = 0
  const list: ValueEvent[] = []
  /** By index; 0 for a list or a map that has not ended. */
  const next: number[] = []
  const open: number[] = []
  const anchors = new Map<string, number>()
  const targets = new Map<number, number>()
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) {
      if (++documents > 1 || event.directives.length > 0) return undefined
      continue
    }
    if (event.type === EVENT_ID.POP) {
      const ended = open.pop()
      // The last event ends the document.
      if (ended !== undefined) next[ended] = list.length
      continue
    }
    const index = list.push(event) - 1
    const isHolder = event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING
    next.push(isHolder ? 0 : index + 1)
    if (isHolder) open.push(index)
    if (event.type === EVENT_ID.ALIAS) {
      const target = anchors.get(nameOfAnchor(event))
      if (target === undefined || next[target] === 0) return undefined
      targets.set(index, target)
      continue
    }
    if (event.tagStart !== -1) return undefined
    if (event.anchorStart !== -1) anchors.set(nameOfAnchor(event), index)
  }
  if (list.length === 0) return undefined
  const hasAliases = targets.size > 0
  const targetOf = (index: number) => (hasAliases ? (targets.get(index) ?? index) : index)
  const nameOf = (key: number) => String(scalarOf(key))
  return { list, next, hasAliases, targetOf, holds, isMerge, nameOf, scalarOf, textOf, beginOf }

  function nameOfAnchor({ anchorStart, anchorEnd }: ValueEvent): string {
    return text.slice(anchorStart, anchorEnd)
  }

  function holds(index: number): 'items' | 'members' | undefined {
    const { type } = list[index] as ValueEvent
    return type === EVENT_ID.MAPPING ? 'members' : type === EVENT_ID.SEQUENCE ? 'items' : undefined
  }

  function isMerge(key: number): boolean {
    const event = list[key] as ScalarEvent
    return event.style === SCALAR_STYLE.PLAIN && text.startsWith('<<', event.valueStart) && scalarOf(key) === '<<'
  }

  function scalarOf(scalar: number): unknown {
    const event = list[scalar] as ScalarEvent
    const source = getScalarValue(text, event)
    return event.style === SCALAR_STYLE.PLAIN ? plainValue(source) : source
  }

  function textOf(index: number, key?: number): string | undefined {
    const event = list[targetOf(index)] as ValueEvent
    if (event.type !== EVENT_ID.SCALAR) return undefined
    // A key without a colon has no value.
    const isThere = event.valueStart !== -1 || key === undefined || endOfKey(key) !== undefined
    return isThere ? getScalarValue(text, event) : undefined
  }

  function beginOf(index: number, key?: number): number | undefined {
    const event = list[index] as ValueEvent
    if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1
    if (event.type !== EVENT_ID.SCALAR) return event.start
    const { valueStart, style, anchorEnd } = event
    if (style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED) return valueStart - 1
    if (style === SCALAR_STYLE.PLAIN && valueStart !== -1) return valueStart
    const end = anchorEnd === -1 ? endOfKey(key) : anchorEnd
    // The text of a block begins with its style, and an empty value ends where its key or its anchor does.
    if (valueStart === -1) return end === undefined ? undefined : matchFrom(emptyValue, end)
    blockStyle.lastIndex = end ?? text.lastIndexOf('\n', valueStart - 2) + 1
    return blockStyle.exec(text)?.index
  }

  /** Returns the offset after a key and its colon; undefined if it has none. */
  function endOfKey(key: number | undefined): number | undefined {
    return key === undefined ? undefined : matchFrom(colon, (list[key] as ScalarEvent).valueEnd)
  }

  function matchFrom(pattern: RegExp, begin: number): number | undefined {
    pattern.lastIndex = begin
    return pattern.test(text) ? pattern.lastIndex : undefined
  }
}

const colon = /['"]?[ \t]*:/y
const emptyValue = /[ \t]*(?=[#,}\]]|\r?\n|$)/y
const blockStyle = /[|>](?=[-+\d]*[ \t]*(?:#|\r?\n|$))/g

/** The values of YAML 1.2 that are no numbers (section 10.3.2). */
const constants = new Map([
  ...['', '~', 'null', 'Null', 'NULL'].map((text) => [text, null] as const),
  ...['true', 'True', 'TRUE'].map((text) => [text, true] as const),
  ...['false', 'False', 'FALSE'].map((text) => [text, false] as const),
])

/** Returns the value of a scalar without quotes (YAML 1.2.2 section 10.3.2): a bigint for an integer beyond the safe ones. */
function plainValue(source: string): unknown {
  const constant = source.length <= 5 ? constants.get(source) : undefined
  if (constant !== undefined) return constant
  if (!/^[-+.\d]/.test(source)) return source
  if (/^[-+]?\.(?:inf|Inf|INF)$/.test(source)) return source.startsWith('-') ? -Infinity : Infinity
  if (/^\.(?:nan|NaN|NAN)$/.test(source)) return Number.NaN
  if (!/^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+)$/.test(source)) return source
  const value = Number(source)
  return Number.isSafeInteger(value) ? value : (wideInteger(digitsOf(source)) ?? value)
}

/** Returns the text of a number of YAML as JSON writes it. */
export const digitsOf = (source: string): string =>
  /^0[xo]/.test(source) ? String(BigInt(source)) : source.replace(/^\+?(-?)0*(?=\d)/, '$1')

/**
 * Builds the value of a text, in which each alias has a value of its own, and merge keys merge the members of maps
 * (https://yaml.org/type/merge.html).
 */
class ValueBuilder {
  /** Whether no map repeats a key, has a key that JSON does not have, or merges another value than a map. */
  isWhole = true
  #count = 0
  readonly #values: YamlValues
  readonly #name: string

  constructor(values: YamlValues, name: string) {
    this.#values = values
    this.#name = name
  }

  build(given: number): unknown {
    const { next, holds, targetOf, scalarOf, hasAliases } = this.#values
    if (hasAliases && ++this.#count > valuesLimit) rejectAliases(this.#name)
    const index = targetOf(given)
    const held = holds(index)
    if (held === undefined) return scalarOf(index)
    const end = next[index] as number
    if (held === 'members') return this.#object(index, end)
    const items: unknown[] = []
    for (let at = index + 1; at < end; at = next[at] as number) items.push(this.build(at))
    return items
  }

  #object(index: number, end: number): Record<string, unknown> {
    const { next, isMerge, list, scalarOf } = this.#values
    const object: Record<string, unknown> = {}
    /** The names of members that explicit ones replace. */
    let merged: Set<string> | undefined
    for (let key = index + 1; key < end; ) {
      const value = next[key] as number
      if (list[key]?.type !== EVENT_ID.SCALAR) this.isWhole = false
      else if (isMerge(key)) merged = this.#merge(object, merged ?? new Set(), value)
      else {
        const given = scalarOf(key)
        const name = String(given)
        const isRepeated = Object.hasOwn(object, name) && merged?.delete(name) !== true
        if (isRepeated || given === null || typeof given === 'bigint') this.isWhole = false
        setMember(object, name, this.build(value))
      }
      key = next[value] as number
    }
    return object
  }

  /** Adds the members of other maps that an object does not have yet, and their names to `merged`. */
  #merge(object: Record<string, unknown>, merged: Set<string>, value: number): Set<string> {
    for (const source of sourcesOf(this.#values, value)) {
      if (this.#values.holds(this.#values.targetOf(source)) !== 'members') this.isWhole = false
      for (const [name, member] of Object.entries(Object(this.build(source)))) {
        if (Object.hasOwn(object, name)) continue
        setMember(object, name, member)
        merged.add(name)
      }
    }
    return merged
  }
}

function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  // An assignment would set the prototype.
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}
