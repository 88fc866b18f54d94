import { isEscaped, parseExactJson } from 'fastify-contract/json'
import type { ReadText, TextValues } from './text-values.ts'

/** A JSON text that was read; `isRepeating` tells whether an object repeats a key. */
type ReadJson = ReadText & { isRepeating: boolean }

function readJson(text: string): ReadJson | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    const value = parseExactJson(text)
    const { memberCount, ...values } = jsonValues(text)
    return { value, values, isRepeating: memberCount !== membersOf(value) }
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
 * Returns JSON with comments without them, each in place of spaces, and any other text as it is; with what it holds if it is
 * JSON. YAML takes such a comment for a part of the next key.
 */
export function withoutComments(text: string): { text: string; json: ReadJson | undefined } {
  const json = readJson(text)
  if (json !== undefined || !/^\s*[{[/]/.test(text) || !text.includes('/')) return { text, json }
  const blank = (found: string) => (found.startsWith('"') ? found : found.replace(/[^\n]/g, ' '))
  const plain = text.replace(commentOrString, blank).replace(lastCommaOrString, blank)
  const read = readJson(plain)
  return { text: read === undefined ? text : plain, json: read }
}

/** Returns the values of a text that JSON.parse accepts, and how many members its objects have. */
function jsonValues(text: string): TextValues & { memberCount: number } {
  const begins: number[] = []
  const next: number[] = []
  const open: number[] = []
  let memberCount = 0
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case ' ':
      case '\n':
      case '\r':
      case '\t':
      case ',':
        break
      case ':':
        memberCount++
        break
      case '{':
      case '[':
        open.push(next.push(0) - 1)
        begins.push(at)
        break
      case '}':
      case ']':
        next[open.pop() as number] = begins.length
        break
      default:
        next.push(begins.push(at))
        at = endOfScalar(text, at) - 1
    }
  }
  return {
    next,
    holds,
    targetOf: (index) => index,
    isMerge: () => false,
    nameOf,
    textOf,
    beginOf,
    memberCount,
  }

  function holds(index: number): 'items' | 'members' | undefined {
    const first = text[beginOf(index)]
    return first === '{' ? 'members' : first === '[' ? 'items' : undefined
  }

  function textOf(index: number): string | undefined {
    return holds(index) === undefined ? nameOf(index) : undefined
  }

  function nameOf(index: number): string {
    const begin = beginOf(index)
    const source = text.slice(begin, endOfScalar(text, begin))
    return source.startsWith('"') ? JSON.parse(source) : source
  }

  function beginOf(index: number): number {
    return begins[index] as number
  }
}

/** Returns the offset after a scalar. */
function endOfScalar(text: string, begin: number): number {
  let end = begin + 1
  if (text[begin] !== '"') {
    while (end < text.length && !',]} \n\r\t'.includes(text[end] as string)) end++
    return end
  }
  end = text.indexOf('"', end)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end + 1
}

/** Returns the number of members that a parsed text has. */
function membersOf(value: unknown): number {
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
