/** Returns a TypeScript string literal for a text. */
export const stringLiteral = (text: string): string =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll("'", "\\'")
    .replace(/[\u2028\u2029]/g, escaped)}'`

/** Returns a text for a comment of one line. */
export const lineText = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/[\u2028\u2029]/g, escaped)
    .trim()

/** Escapes U+2028 and U+2029, which would end a line in a comment. */
const escaped = (separator: string): string => `\\u${separator.charCodeAt(0).toString(16)}`

/**
 * Returns a TypeScript expression for a JSON value, whose integers may be bigints, in lines of at most `width` columns.
 */
export function literal(value: unknown, width: number, indent = ''): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'string') return stringLiteral(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const inner = `${indent}  `
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const parts = Array.isArray(value)
    ? value.map((item) => literal(item, width, inner))
    : Object.entries(value).map(([name, member]) => `${keyOf(name)}: ${literal(member, width, inner)}`)
  const space = close === '}' && parts.length > 0 ? ' ' : ''
  const line = `${open}${space}${parts.join(', ')}${space}${close}`
  if (indent.length + line.length <= width && !line.includes('\n')) return line
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`
}

/** Returns the key of a member in an object literal. A plain __proto__ would set the prototype of the object. */
const keyOf = (name: string): string => (name === '__proto__' ? `['${name}']` : quotedName(name))

/** Returns the name of a method or a property, in quotes unless it is an identifier. */
export const quotedName = (name: string): string => (isIdentifier(name) ? name : stringLiteral(name))

/** Returns an expression for the member of an object. */
export const memberOf = (holder: string, name: string): string =>
  isIdentifier(name) ? `${holder}.${name}` : `${holder}[${stringLiteral(name)}]`

const isIdentifier = (name: string): boolean => /^[A-Za-z_$][\w$]*$/.test(name)
