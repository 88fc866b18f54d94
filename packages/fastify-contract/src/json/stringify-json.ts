/**
 * Serializes a value like JSON.stringify, with each bigint as an integer; RFC 8259 section 6 sets no limit on digits.
 * Returns undefined for a value that JSON cannot represent.
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
