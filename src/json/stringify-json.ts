/**
 * Takes the value of a request body; gives its JSON text as JSON.stringify would, and a bigint as its digits: an
 * integer of JSON (RFC 8259 section 6) has any number of them. Undefined for what JSON does not have.
 */
export function requestBody(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => requestBody(item) ?? 'null').join()}]`
  const members = Object.entries(value).flatMap(([name, member]) => {
    const text = requestBody(member)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${members.join()}}`
}
