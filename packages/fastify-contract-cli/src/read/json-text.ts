import { parseExactJson } from 'fastify-contract/json'

/** The value of a text. */
export type Value = { value: unknown }

function parseJson(text: string): Value | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    return { value: parseExactJson(text) }
  } catch {
    // YAML includes JSON, and its parser says where the text is wrong.
    return undefined
  }
}

/** Matches a string of JSON, or a comment of JavaScript. */
const commentOrString = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g

/** Matches a string of JSON, or a comma after the last value. */
const lastCommaOrString = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|,(?=\s*[}\]])/g

/**
 * Returns JSON with comments without them, each in place of spaces, and any other text as it is; with its value if it is
 * JSON. YAML takes such a comment for a part of the next key.
 */
export function withoutComments(text: string): { text: string; json: Value | undefined } {
  const json = parseJson(text)
  if (json !== undefined || !/^\s*[{[/]/.test(text) || !text.includes('/')) return { text, json }
  const blank = (found: string) => (found.startsWith('"') ? found : found.replace(/[^\n]/g, ' '))
  const plain = text.replace(commentOrString, blank).replace(lastCommaOrString, blank)
  const value = parseJson(plain)
  return { text: value === undefined ? text : plain, json: value }
}

/** Returns whether an object of a JSON text repeats a key, so that its value has fewer keys than the text. */
export const isRepeating = (text: string, value: unknown): boolean => keysIn(text) !== keysOfValue(value)

/** Returns the number of keys that a JSON text has. */
function keysIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    let end = text.indexOf('"', at + 1)
    while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
    at = end + 1
    while (whitespace.includes(text.charCodeAt(at))) at++
    if (text[at] === ':') count++
  }
  return count
}

/** The character codes of the whitespace of JSON (RFC 8259 section 2). */
const whitespace = [0x20, 0x0a, 0x09, 0x0d]

function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text[before] === '\\') before--
  return (at - before) % 2 === 0
}

/** Returns the number of keys that a parsed text has. */
function keysOfValue(value: unknown): number {
  let count = 0
  const waiting = [value]
  for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
    if (each === null) continue
    const held = Object.values(each as object)
    if (!Array.isArray(each)) count += held.length
    for (const one of held) if (typeof one === 'object') waiting.push(one)
  }
  return count
}
