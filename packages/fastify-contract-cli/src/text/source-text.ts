/** Returns a TypeScript string literal for a text. */
export const stringLiteral = (text: string): string =>
  `'${visible(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'"))}'`

/** Returns a template literal for a text, which keeps its lines. */
export const templateLiteral = (text: string): string => `\`${templateText(text)}\``

/** Returns a text for a place between the marks of a template literal. */
export const templateText = (text: string): string => text.replace(/[`\\]|\$\{/g, '\\$&').replace(unseenInLine, escaped)

/** Returns a text for a comment of one line, in any language. */
export const lineText = (text: string): string => visible(text.replace(/\s+/g, ' ')).trim()

/** Returns a text for a TypeScript comment that ends with an asterisk and a slash. */
export const blockText = (text: string): string => lineText(text).replaceAll('*/', '* /')

/** Returns a text in which each control character, line separator and change of the writing direction is escaped. */
export const visible = (text: string): string => text.replace(unseen, escaped)

/** Returns a text for a terminal, which would obey a control character. Keeps line feeds and tabs. */
export const terminalText = (text: string): string =>
  text.replace(unseen, (character) => (/[\n\t]/.test(character) ? character : escaped(character)))

/** U+0085, U+2028 and U+2029 end a line in some languages. The last three groups show other code than is run. */
const unseen = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** The same without the line feed: a call for each line of a document takes half of the time. */
const unseenInLine = /[^\P{Cc}\n]|[\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Returns the escape of a character in JSON and TypeScript. */
export const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

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
export const keyOf = (name: string): string => (name === '__proto__' ? `['${name}']` : quotedName(name))

/** Returns the name of a method or a property, in quotes unless it is an identifier. */
export const quotedName = (name: string): string => (isIdentifier(name) ? name : stringLiteral(name))

/** Returns an expression for the member of an object. */
export const memberOf = (holder: string, name: string): string =>
  isIdentifier(name) ? `${holder}.${name}` : `${holder}[${stringLiteral(name)}]`

const isIdentifier = (name: string): boolean => /^[A-Za-z_$][\w$]*$/.test(name)
