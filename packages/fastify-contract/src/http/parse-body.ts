import { decodeJson } from '../json/decode-json.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { type JsonError, parseJson } from '../json/parse-json.ts'
import { ContractError } from './errors.ts'
import { decodeText, parseQuery } from './request-head.ts'

/** Parses the bytes of a body. Throws a ContractError for invalid ones. */
export type ParseBody = (bytes: Buffer) => unknown

/** Parses strict JSON to a JsonDocument; anything else gets 400. */
export function parseJsonBody(bytes: Buffer): JsonDocument {
  try {
    return parseJson(decodeJson(bytes))
  } catch (error) {
    throw new ContractError('notJson', `body cannot be parsed as JSON: ${(error as JsonError).message}`)
  }
}

/**
 * Decodes UTF-8 text as strictly as JSON. NUL is not allowed, because some stores truncate a text there. Throws a
 * ContractError that names `part`.
 */
export function decodeUtf8(bytes: Buffer, part: string): string {
  let text: string
  try {
    text = decodeJson(bytes)
  } catch {
    throw new ContractError('invalid', `${part} is not UTF-8`)
  }
  if (text.includes('\0')) throw new ContractError('invalid', `${part} contains the character U+0000`)
  return text
}

/** Parses a text body to a JsonDocument that holds one string. */
export function parseText(bytes: Buffer): JsonDocument {
  const text = decodeUtf8(bytes, 'body')
  return { value: text, length: text.length }
}

/** The percent-encoded values of a form (application/x-www-form-urlencoded) by name, and the length of its text. */
export type FormTexts = { texts: Record<string, string[]>; length: number }

/** Returns a parser for forms with at most `fieldsLimit` fields. */
export const formParser =
  (fieldsLimit: number) =>
  (bytes: Buffer): FormTexts => {
    const text = decodeUtf8(bytes, 'body')
    // Counted before parsing, since a parsed field with a name of one byte takes a hundred bytes of memory.
    if (countFields(text) > fieldsLimit) throw tooManyFields(fieldsLimit)
    if (/%00/.test(text)) throw new ContractError('invalid', 'body contains the character U+0000')
    try {
      decodeText(text)
    } catch {
      throw new ContractError('invalid', 'body is not percent-encoded UTF-8')
    }
    return { texts: parseQuery(text), length: text.length }
  }

function countFields(text: string): number {
  let count = 1
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) count++
  return count
}

/** Returns the error for a form with more than `limit` fields or parts. */
export const tooManyFields = (limit: number): ContractError =>
  new ContractError('bodyTooLarge', `the form has more than ${limit} fields`)
