import { stringifyJson } from 'fastify-contract/json'
import type { Json } from '../values/json-notations.ts'

/** A value whose texts are read: how its parts are written, and the types that the schema allows for them. */
export type Textual = {
  kind: 'scalar' | 'array' | 'object' | 'nested' | 'json'
  style: string
  explode: boolean
  types: readonly string[]
  scalarTypes?: readonly string[]
  properties?: Readonly<Record<string, readonly string[]>>
}

/** Characters that separate the parts of a value in some style. */
const delimiter = /[,;|&=.[\] \t\r\n+%]/

/** The maximum number of readings of one value. A value with more is treated as one that any server may accept. */
const maxReadings = 200

/**
 * Returns whether every server reads the texts of a value as this value. `accepts` returns whether the schema accepts a
 * value.
 */
export function isReadExactly(textual: Textual, value: Json, accepts: (value: Json) => boolean): boolean {
  const { kind, types, scalarTypes = [], properties = {} } = textual
  if (kind === 'json') return true
  if (Array.isArray(value)) {
    if (kind === 'nested') return isPlainTree(value)
    return kind === 'array' && value.length > 0 && value.every((item) => isExactPart(item, types))
  }
  if (typeof value === 'object' && value !== null) {
    if (kind === 'nested') return isPlainTree(value)
    const members = Object.entries(value)
    if (kind !== 'object' || members.length === 0) return false
    return members.every(
      ([name, member]) =>
        name !== '' &&
        !delimiter.test(name) &&
        isExactPart(member, Object.hasOwn(properties, name) ? (properties[name] as string[]) : types),
    )
  }
  if (value === null) return false
  if (kind === 'nested') return isPlainTree(value)
  const own = kind === 'scalar' ? types : scalarTypes
  const read = scalarReadings(textOf(value)).filter((one) => isOfType(one, own))
  return read.length > 0 && read.every(accepts)
}

/** Returns whether a server may overlook a value of a wrong type, since its names in brackets are those of another one. */
export const isOverlooked = ({ kind }: Textual, reason: string): boolean =>
  kind === 'nested' && /(?:array|object).* instead|instead of .*(?:array|object)/.test(reason)

/** Returns whether a server reads a value of a wrong type as a text, which its schema allows. */
export const isReadAsText = ({ kind }: Textual, reason: string): boolean =>
  kind !== 'json' && /instead of (?:.* )?string/.test(reason)

/** Returns whether a value is a scalar that has one reading of its types, without a delimiter. */
function isExactPart(value: Json, types: readonly string[]): boolean {
  if (value === null || typeof value === 'object') return false
  const text = textOf(value)
  if (text === '' || (typeof value === 'string' && delimiter.test(text))) return false
  return scalarReadings(text).filter((one) => isOfType(one, types)).length === 1
}

/** Returns whether a value consists of texts that look like nothing else, numbers and booleans, with no empty part. */
function isPlainTree(value: Json): boolean {
  if (value === null) return false
  if (typeof value !== 'object') {
    const text = textOf(value)
    return text !== '' && (typeof value !== 'string' || (scalarReadings(text).length === 1 && !delimiter.test(text)))
  }
  const members = Object.entries(value)
  const areNamed = Array.isArray(value) || members.every(([name]) => name !== '' && !delimiter.test(name))
  return members.length > 0 && areNamed && members.every(([, member]) => isPlainTree(member))
}

/**
 * Returns whether no reading of the texts of a value is accepted, so that every server must reject them. Returns false in
 * case of doubt: if servers may overlook the texts, split them elsewhere, or read them in too many ways.
 *
 * @param isRepeatable Whether the texts are repeated pairs, of which some servers read only one.
 */
export function isRejected({ kind, style, explode }: Textual, value: Json, accepts: (value: Json) => boolean): boolean {
  if (kind === 'json') return !accepts(value)
  const isComposite = typeof value === 'object' && value !== null
  if ((kind === 'object' || kind === 'nested') && (!isComposite || Array.isArray(value))) return false
  if (kind !== 'object' && kind !== 'nested' && isComposite && !Array.isArray(value)) return false
  // Each property is a parameter of its own, which a server may overlook.
  if (kind === 'object' && style === 'form' && explode && hasOnlyEmpty(value)) return false
  const readings = readingsOf(value, kind === 'nested')
  return readings !== undefined && readings.length > 0 && !readings.some(accepts)
}

const hasOnlyEmpty = (value: Json): boolean =>
  Object.values(Object(value) as object).every((member) => member === null || member === '')

/** Returns the values that servers may read from the texts of a value; undefined if there may be more. */
function readingsOf(value: Json, isNested: boolean): Json[] | undefined {
  if (value === null || typeof value !== 'object') {
    const text = textOf(value)
    const scalars = scalarReadings(text)
    const parts = delimiter.test(text) ? text.split(/[,;|&. \t]+/).map((part) => scalarReadings(part)) : []
    const lists = parts.length > 1 ? product(parts) : []
    return lists && [...scalars, ...scalars.map((one) => [one]), ...lists, ...(text === '' ? [[]] : [])]
  }
  const members = Object.values(value)
  // Servers may take an empty list or object for a missing one, and split a text with a delimiter.
  if (members.length === 0 || members.some((member) => isDivisible(member, isNested))) return undefined
  const each: Json[][] = []
  for (const member of members) {
    const isComposite = typeof member === 'object' && member !== null
    const scalars = isComposite ? [] : scalarReadings(textOf(member))
    const readings = isComposite
      ? readingsOf(member, isNested)
      : [...scalars, ...(isNested ? scalars.map((one) => [one]) : [])]
    if (readings === undefined) return undefined
    each.push(readings)
  }
  const all = product(each)
  if (all === undefined) return undefined
  if (!Array.isArray(value)) {
    const names = Object.keys(value)
    return all.map((list) => Object.fromEntries(list.map((one, index) => [names[index] as string, one])))
  }
  const joined = scalarReadings(members.map(textOf).join(','))
  return [...all, ...each.flat(), ...joined]
}

/** Returns whether servers may split or overlook a part, or take an object for its JSON text. */
function isDivisible(value: Json, isNested: boolean): boolean {
  if (typeof value === 'object' && value !== null) return !isNested
  return value === null || value === '' || (typeof value === 'string' && delimiter.test(value))
}

/** Returns all lists with one value of each position; undefined if there are too many. */
function product(choices: Json[][]): Json[][] | undefined {
  let lists: Json[][] = [[]]
  for (const one of choices) {
    if (lists.length * one.length > maxReadings) return undefined
    lists = lists.flatMap((list) => one.map((value) => [...list, value]))
  }
  return lists
}

/** Returns the text of a value in the style of a parameter. */
const textOf = (value: Json): string =>
  typeof value === 'string' ? value : value === null ? '' : String(stringifyJson(value))

/** Returns every scalar that servers read from a text: as it is, trimmed, and as a number, a boolean or null. */
export function scalarReadings(text: string): Json[] {
  const trimmed = text.trim()
  const readings: Json[] = trimmed === text ? [text] : [text, trimmed]
  const digits = trimmed.replaceAll('_', '').replace(/^\+/, '')
  if (/^-?\d+$/.test(digits)) readings.push(BigInt(digits))
  else if (digits !== '' && !Number.isNaN(Number(digits))) readings.push(Number(digits))
  else if (/^[+-]?(?:nan|inf|infinity)$/i.test(trimmed)) readings.push(0)
  if (/^(?:true|t|yes|y|on|1)$/i.test(trimmed)) readings.push(true)
  if (/^(?:false|f|no|n|off|0)$/i.test(trimmed)) readings.push(false)
  if (/^(?:null|nil|none|undefined|)$/i.test(trimmed)) readings.push(null)
  return readings
}

/** The texts of the booleans in OpenAPI, other than those of which only some servers read a boolean. */
function isOfType(value: Json, types: readonly string[]): boolean {
  if (typeof value === 'string') return types.length === 0 || types.includes('string')
  if (typeof value === 'boolean') return types.includes('boolean')
  if (value === null) return types.includes('null')
  if (types.includes('number')) return true
  return types.includes('integer') && (typeof value === 'bigint' || Number.isInteger(value))
}
