import { wideInteger } from 'fastify-contract/json'
import {
  CORE_SCHEMA,
  constructFromEvents,
  defineMappingTag,
  defineScalarTag,
  EVENT_ID,
  type Event,
  getScalarValue,
  mapTag,
  NOT_RESOLVED,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml'

/** A file as the list of the beginnings and ends of its values, in the order of the text. */
export type Events = {
  text: string
  list: Event[]
  /** For each event that begins a value, the index of the event after that value. */
  next: Int32Array
}

/** The index of the event of the whole value: the one before it begins the document. */
const root = 1

/**
 * Parses JSON, or YAML without anchors, tags, directives and merge keys, several times faster than the parser of
 * read-source.ts. Returns undefined for any other text: that parser knows these, and says what is wrong.
 */
export function eventsOf(text: string): Events | undefined {
  if (/<<['"]?\s*:/.test(text)) return undefined
  let list: Event[]
  try {
    // The stack of JavaScript limits the depth.
    list = parseEvents(text, { maxDepth: Number.MAX_SAFE_INTEGER })
  } catch {
    return undefined
  }
  const next = new Int32Array(list.length)
  const open: number[] = []
  for (const [index, event] of list.entries()) {
    if (!isPlain(event)) return undefined
    if (event.type === EVENT_ID.POP) next[open.pop() as number] = index + 1
    else if (event.type === EVENT_ID.SCALAR) next[index] = index + 1
    else open.push(index)
  }
  return next[0] === list.length ? { text, list, next } : undefined
}

/** Returns whether an event is no alias, and has neither an anchor, a tag nor directives. */
function isPlain(event: Event): boolean {
  if (event.type === EVENT_ID.DOCUMENT) return event.directives.length === 0
  if (event.type === EVENT_ID.POP) return true
  return event.type !== EVENT_ID.ALIAS && event.anchorStart === -1 && event.tagStart === -1
}

/** Returns the value of a number of YAML 1.2 (section 10.3.2): a bigint for an integer beyond the safe ones. */
function numberOf(source: string): number | bigint | typeof NOT_RESOLVED {
  if (/^[-+]?\.(?:inf|Inf|INF)$/.test(source)) return source.startsWith('-') ? -Infinity : Infinity
  if (/^\.(?:nan|NaN|NAN)$/.test(source)) return Number.NaN
  if (!/^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+)$/.test(source)) return NOT_RESOLVED
  const value = Number(source)
  return Number.isSafeInteger(value) ? value : (wideInteger(digitsOf(source)) ?? value)
}

/** Returns the text of a number of YAML as JSON writes it. */
export const digitsOf = (source: string): string =>
  /^0[xo]/.test(source) ? String(BigInt(source)) : source.replace(/^\+?(-?)0*(?=\d)/, '$1')

/** Numbers of YAML 1.2. The tag of its other numbers, which follows this one in the schema, gets none of them. */
const numberTag = defineScalarTag('tag:yaml.org,2002:int', {
  implicit: true,
  implicitFirstChars: [...'-+.0123456789'],
  resolve: numberOf,
  identify: () => false,
})

/** Objects whose keys are texts, or numbers and booleans that doubles hold. */
const objectTag = defineMappingTag('tag:yaml.org,2002:map', {
  ...mapTag,
  addPair: (holder: Record<string, unknown>, key, value) =>
    key === null || typeof key === 'bigint' ? 'has a key of another kind' : mapTag.addPair(holder, key, value),
})

const schema = CORE_SCHEMA.withTags(numberTag, objectTag)

/** Returns the value of a text; undefined if it repeats a key, or has one that is no text. */
export function valueFrom({ text, list }: Events): { value: unknown } | undefined {
  try {
    const [value] = constructFromEvents(list, { source: text, schema })
    return { value }
  } catch {
    return undefined
  }
}

/** The indexes of the events of a member: of its key and its value. An item of a list has no key of its own. */
type Found = { key?: number; value: number }

/** Returns the value at some keys of a text, or the closest value above it; `isWhole` tells which of both. */
function found(events: Events, keys: string[]): Found & { isWhole: boolean } {
  let last: Found = { value: root }
  for (const key of keys) {
    const member = memberOf(events, last.value, key)
    if (member === undefined) return { ...last, isWhole: false }
    last = member
  }
  return { ...last, isWhole: true }
}

function memberOf({ text, list, next }: Events, holder: number, name: string): Found | undefined {
  const { type } = list[holder] as Event
  const isList = type === EVENT_ID.SEQUENCE
  if (!isList && type !== EVENT_ID.MAPPING) return undefined
  let count = 0
  for (let at = holder + 1; (list[at] as Event).type !== EVENT_ID.POP; at = next[at] as number) {
    if (isList) {
      if (String(count++) === name) return { key: at, value: at }
      continue
    }
    const key = at
    at = next[at] as number
    if (keyText(text, list[key] as ScalarEvent) === name) return { key, value: at }
  }
  return undefined
}

/** Returns the name of a member, as `valueFrom` has it. */
function keyText(text: string, key: ScalarEvent): string {
  const given = getScalarValue(text, key)
  if (key.style !== SCALAR_STYLE.PLAIN) return given
  const number = numberOf(given)
  if (number !== NOT_RESOLVED) return String(number)
  return /^(?:True|TRUE|False|FALSE)$/.test(given) ? given.toLowerCase() : given
}

/**
 * Returns the offset of the value at some keys, or of its key; of the closest value above it if there is none. Returns
 * undefined for a value that the text leaves out.
 */
export function offsetOf(events: Events, keys: string[], onKey: boolean): number | undefined {
  const { key, value } = found(events, keys)
  const index = onKey ? key : value
  return index === undefined ? 0 : beginOf(events, index, key)
}

function beginOf({ text, list }: Events, index: number, key: number | undefined): number | undefined {
  const event = list[index] as Event
  if ('start' in event) return event.start
  const { valueStart, style } = event as ScalarEvent
  if (style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED) return valueStart - 1
  if (style === SCALAR_STYLE.PLAIN && valueStart !== -1) return valueStart
  if (key === undefined || key === index) return undefined
  // The text of a block begins with its style, and an empty value ends where its key does.
  return matchEnd(valueStart === -1 ? emptyValue : blockValue, text, list[key] as ScalarEvent)
}

const colon = /['"]?[ \t]*:/y
const emptyValue = /['"]?[ \t]*:[ \t]*(?=#|\r?\n|$)/y
const blockValue = /['"]?[ \t]*:[ \t]*(?=[|>])/y

/** Returns where a match of a pattern ends that begins where a key ends. */
function matchEnd(pattern: RegExp, text: string, { valueEnd }: ScalarEvent): number | undefined {
  pattern.lastIndex = valueEnd
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** Returns the text of the scalar at some keys without quotes; undefined if there is none. */
export function scalarAt(events: Events, keys: string[]): string | undefined {
  const { key, value, isWhole } = found(events, keys)
  const event = events.list[value] as Event
  if (!isWhole || event.type !== EVENT_ID.SCALAR) return undefined
  const hasValue = event.valueStart !== -1 || key === value
  // A key without a colon has no value.
  if (!hasValue && matchEnd(colon, events.text, events.list[key as number] as ScalarEvent) === undefined)
    return undefined
  return getScalarValue(events.text, event)
}
