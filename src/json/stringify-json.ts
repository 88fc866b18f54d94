/**
 * Returns the JSON text of a value as JSON.stringify would, with a bigint as its digits: RFC 8259 section 6 sets no limit
 * to their number. Undefined for a value that JSON does not have.
 */
export function stringifyJson(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => stringifyJson(item) ?? 'null').join()}]`
  const members = Object.entries(value).flatMap(([name, member]) => {
    const text = stringifyJson(member)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${members.join()}}`
}
