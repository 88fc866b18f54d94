/** Characters that JSON.stringify may escape. This test is cheaper than JSON.stringify. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 section 7 wants them escaped
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/

/** Characters. Comparing those of a shorter text costs less than a regular expression. */
const maxCompared = 40

function mayNeedEscapes(text: string): boolean {
  if (text.length > maxCompared) return escaped.test(text)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)) return true
  }
  return false
}

/** Returns the JSON text of a string without the quotes around it. */
export const unquoted = (text: string): string => (mayNeedEscapes(text) ? JSON.stringify(text).slice(1, -1) : text)

/** Returns the JSON text of a value. */
type WriteValue = (value: unknown) => string

/**
 * Serializes a value like JSON.stringify, with each bigint as an integer; RFC 8259 section 6 sets no limit on digits.
 * Returns undefined for a value that JSON cannot represent. With `indent`, each member has a line of its own.
 */
export function stringifyJson(value: unknown, indent = '', line = '\n'): string | undefined {
  if (typeof value === 'string') return `"${unquoted(value)}"`
  // JSON.stringify takes longer for a number, and throws for a bigint.
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  // A member of this name may also be data. Its result is not converted again, since it may be the value itself.
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? converted(toJSON.call(value), indent, line) : composite(value, indent, line)
}

const converted = (value: unknown, indent: string, line: string): string | undefined =>
  typeof value === 'object' && value !== null ? composite(value, indent, line) : stringifyJson(value)

/** Returns the JSON text of a list or an object. */
function composite(value: object, indent: string, line: string): string {
  const isList = Array.isArray(value)
  const below = indent === '' ? '' : line + indent
  const colon = indent === '' ? ':' : ': '
  let text = ''
  for (const name of isList ? value.keys() : Object.keys(value)) {
    const member = stringifyJson((value as Record<string | number, unknown>)[name], indent, below)
    if (isList) text += `${text === '' ? '' : ','}${below}${member ?? 'null'}`
    else if (member !== undefined) text += `${text === '' ? '' : ','}${below}${JSON.stringify(name)}${colon}${member}`
  }
  const end = text === '' || indent === '' ? '' : line
  return isList ? `[${text}${end}]` : `{${text}${end}}`
}

/**
 * Returns the JSON text of a value in a reply as it is, with each bigint as an integer: a member that JSON cannot
 * represent is null, and `toJSON` is not called.
 */
export function json(value: unknown): string {
  if (typeof value === 'string') return `"${unquoted(value)}"`
  // JSON.stringify takes longer for a number.
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return jsonList(value, json)
  return jsonObject(Object.keys(value), value, writesAsIs)
}

const writesAsIs = () => json

/** Returns the JSON text of a list, each item of which `write` writes. */
export function jsonList(values: unknown[], write: WriteValue): string {
  let text = '['
  for (let index = 0; index < values.length; index++) text += (index === 0 ? '' : ',') + write(values[index])
  return `${text}]`
}

/**
 * Returns the JSON text of an object with the own members of these names. `writerOf` returns undefined for a member that
 * is not written.
 */
export function jsonObject(
  names: Iterable<string>,
  value: object,
  writerOf: (name: string) => WriteValue | undefined,
): string {
  let text = '{'
  for (const name of names) {
    const member = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
    const write = member === undefined ? undefined : writerOf(name)
    if (write !== undefined) text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${write(member)}`
  }
  return `${text}}`
}
