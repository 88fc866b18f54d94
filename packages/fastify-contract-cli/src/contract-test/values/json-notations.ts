/** A JSON value. An integer for a schema of type integer is a bigint, so that it keeps every digit. */
export type Json = null | boolean | number | bigint | string | Json[] | Members
export type Members = { [name: string]: Json }

/** Ways to write the same value as JSON (RFC 8259). */
export const styles = ['plain', 'spaced', 'escaped', 'fraction', 'exponent'] as const
export type Style = (typeof styles)[number]

/** Returns the JSON text of a value, with white space, escapes and numbers in the given style. */
export function jsonText(value: Json, style: Style = 'plain'): string {
  const space = style === 'spaced' ? '\r\n\t ' : ''
  const write = (value: Json): string => {
    if (typeof value === 'bigint') return integerText(value, style)
    if (typeof value === 'string') return style === 'escaped' ? escaped(value) : JSON.stringify(value)
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const parts = Array.isArray(value)
      ? value.map(write)
      : Object.entries(value).map(([name, member]) => `${write(name)}${space}:${space}${write(member)}`)
    const [open, close] = Array.isArray(value) ? '[]' : '{}'
    return `${open}${space}${parts.join(`${space},${space}`)}${space}${close}`
  }
  return space + write(value) + space
}

function integerText(integer: bigint, style: Style): string {
  if (style === 'fraction') return `${integer}.0`
  if (style !== 'exponent') return String(integer)
  const [, digits, zeros = ''] = /^(.+?)(0*)$/.exec(String(integer)) ?? []
  return `${digits}e${zeros.length}`
}

/** Returns a string as JSON that consists of escapes only. */
export const escaped = (text: string): string =>
  `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`

/** The types of JSON Schema 2020-12 except integer, which is part of number. */
export const jsonTypes = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const
export type JsonType = (typeof jsonTypes)[number]

/**
 * Converts the bigints of a value to numbers, for tools without bigint. Multiplies an integer outside of int64 by two,
 * because the nearest double may be a limit of int64, which is valid.
 */
export function withDoubles(value: Json): unknown {
  if (typeof value === 'bigint') {
    const isInside = BigInt.asIntN(64, value) === value
    return isInside ? Number(value) : Number(value) * 2
  }
  // Zero has no sign in JSON Schema.
  if (value === 0) return 0
  if (Array.isArray(value)) return value.map(withDoubles)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withDoubles(member)]))
}
