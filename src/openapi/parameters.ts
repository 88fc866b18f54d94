import { ContractError } from '../http/errors.ts'
import { decodeText } from '../http/query-string.ts'
import { mayBeInexact } from '../json/exact-integer.ts'
import { type JsonDocument, keepDigits } from '../json/json-document.ts'
import type { ParameterText } from './routes.ts'

/** What a request has for each name: one text, or in a query and in cookies all values, percent-encoded as sent. */
export type Texts = Record<string, string | string[] | undefined>

/**
 * Returns the values of parameters of one place, by their names, as `parseJson` returns a text. Throws a ContractError for
 * texts that cannot be decoded.
 */
export function readParameters(parameters: ParameterText[], texts: Texts): JsonDocument {
  const values: Record<string, unknown> = {}
  const document: JsonDocument = { value: values }
  for (const parameter of parameters) {
    const { name, key, types } = parameter
    const text = Object.hasOwn(texts, key) ? texts[key] : undefined
    if (text !== undefined) readInto(document, values, name, split(parameter, text), types)
  }
  return document
}

/** What separates the items of an array that is one text, by style (OpenAPI 3.1 section 4.8.12.3), as it is sent. */
const separators = { form: ',', simple: ',', spaceDelimited: /%20|\+/, pipeDelimited: /%7C|\|/i } as const

/** Returns the decoded text of a parameter, or the texts of the items of an array. */
function split(parameter: ParameterText, given: string | string[]): string | string[] {
  const { isArray, style, explode } = parameter
  // Texts of headers and of the path arrive decoded.
  if (typeof given === 'string') return isArray ? given.split(',').map((item) => item.trim()) : given
  const texts = isArray && !explode ? given.flatMap((text) => text.split(separators[style])) : given
  const [first = '', ...more] = texts.map((text) => decode(parameter, text))
  return isArray || more.length > 0 ? [first, ...more] : first
}

/** The grammar of a JSON number (RFC 8259 section 6). */
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Reads a text, or those of an array, as the types that its schema allows; a text of none of them stays a text. */
function readInto(
  document: JsonDocument,
  holder: object,
  key: string | number,
  text: string | string[],
  types: string[],
): void {
  let value: unknown = text
  if (Array.isArray(text)) {
    const items: unknown[] = []
    for (const [index, item] of text.entries()) readInto(document, items, index, item, types)
    value = items
  } else if (number.test(text) && types.some((type) => type === 'integer' || type === 'number')) {
    value = Number(text)
    if (mayBeInexact(text)) keepDigits(document, holder, key, text)
  } else if (/^(true|false)$/.test(text) && types.includes('boolean')) value = text === 'true'
  else if (text === '' && types.includes('null') && !types.includes('string')) value = null
  // An assignment to __proto__ would set the prototype.
  Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true })
}

function decode({ in: place, name }: ParameterText, text: string): string {
  try {
    // Only in a query a plus is a space.
    return place === 'cookie' ? decodeURIComponent(text) : decodeText(text)
  } catch {
    if (place === 'cookie') throw new ContractError('invalid', `cookie/${name} is not percent-encoded UTF-8`)
    throw new ContractError('undecodableTarget', 'the request target cannot be decoded')
  }
}
