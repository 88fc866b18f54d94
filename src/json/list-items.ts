import { JsonError } from './json-error.ts'
import { parseJson } from './parse-json.ts'

/** RFC 8259 section 2. */
const space = String.raw`[ \t\r\n]*`
const blank = new RegExp(`^${space}$`)
const tail = new RegExp(`\\]${space}\\}${space}$`, 'y')

/**
 * Yields the items of the list in `{"NAME": [ITEM, …]}`, each parsed when it is asked for, so that a caller can let other
 * work pass between them. Returns whether the text has this form. Throws a JsonError where the text is not JSON, as
 * `parseJson` does.
 */
export function* listItems(text: string, name: string): Generator<unknown, boolean> {
  const head = new RegExp(`^${space}\\{${space}"${name}"${space}:${space}\\[`).exec(text)?.[0]
  if (head !== undefined) {
    let start = head.length
    let end = endOfItem(text, start)
    const isEmpty = text[end] === ']' && blank.test(text.slice(start, end))
    while (!isEmpty) {
      yield parseItem(text.slice(start, end), start)
      if (text[end] !== ',') break
      start = end + 1
      end = endOfItem(text, start)
    }
    tail.lastIndex = end
    if (tail.test(text)) return true
  }
  // Whatever else the text is, this tells what is wrong with it as JSON.
  parseJson(text)
  return false
}

function parseItem(text: string, start: number): unknown {
  try {
    return parseJson(text).value
  } catch (error) {
    // Within an item the text does not end.
    const message = (error as JsonError).message.replace('unexpected end', 'unexpected character')
    throw new JsonError(message.replace(/\d+$/, (at) => String(start + Number(at))))
  }
}

/** Returns the place of the comma or bracket that ends an item. */
function endOfItem(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at)
        break
      case '{':
      case '[':
        depth++
        break
      case '}':
      case ']':
        if (depth-- === 0) return at
        break
      case ',':
        if (depth === 0) return at
    }
  }
  throw new JsonError(`unexpected end at character ${text.length}`)
}

/** Returns the place of the quote that ends a string, or of the end of the text. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
