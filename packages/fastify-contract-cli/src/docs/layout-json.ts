/** Matches a token of JSON (RFC 8259 section 2). */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g

/**
 * Returns a JSON text with one line for each member and item. No value becomes a number of JavaScript, so that each keeps
 * its digits. Returns any other text as it is, and one whose layout would have more than `maxLength` characters: the
 * indentation of nested arrays grows with the square of their depth.
 */
export function layOutJson(text: string, maxLength: number): string {
  if (!isJson(text)) return text
  const parts: string[] = []
  let length = 0
  let line = '\n'
  let last = ''
  for (const [token] of text.matchAll(tokens)) {
    const isEnd = token === '}' || token === ']'
    if (isEnd) line = line.slice(0, -2)
    // Nothing separates the brackets of an empty object or array.
    if (isEnd ? last !== '{' && last !== '[' : last === '{' || last === '[' || last === ',') parts.push(line)
    parts.push(token === ':' ? ': ' : token)
    if (token === '{' || token === '[') line += '  '
    last = token
    length += token.length + line.length
    if (length > maxLength) return text
  }
  return parts.join('')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
