import { JsonError, parseJson } from './parse-json.ts'

/** Whitespace (RFC 8259 section 2). */
const space = String.raw`[ \t\r\n]*`
const blank = new RegExp(`^${space}$`)
const tail = new RegExp(`\\]${space}\\}${space}$`, 'y')

/**
 * Yields the items of the list in `{"NAME": [ITEM, …]}`. Each item is parsed on demand, so that the caller can yield to
 * the event loop between items. Returns whether the text has this form. Throws a JsonError if the text is not JSON, as
 * `parseJson` does. Both may happen after it has yielded items. `name` must have no special characters.
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
  // Throws if the text is not JSON at all.
  parseJson(text)
  return false
}

function parseItem(text: string, start: number): unknown {
  try {
    return parseJson(text).value
  } catch (error) {
    const { problem, at } = error as JsonError
    // A comma or bracket follows the item, so its end is not the end of the text.
    throw new JsonError(problem === 'unexpected end' ? 'unexpected character' : problem, start + (at as number))
  }
}

/** Returns the index of the comma or bracket that ends an item. */
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
  throw new JsonError('unexpected end', text.length)
}

/** Returns the index of the quote that ends a string, or the length of the text if there is none. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
