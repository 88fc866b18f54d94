import { decodeJson } from '../json/decode-json.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { ContractError } from './errors.ts'
import { decodeText, parseQuery } from './query-string.ts'
import type { ParseBody } from './whole-body.ts'

/**
 * Returns the text of bytes as strictly as that of JSON is read: UTF-8, without the NUL that some stores cut a text at.
 * Throws a ContractError that names the `part`.
 */
export function textOf(bytes: Buffer, part: string): string {
  let text: string
  try {
    text = decodeJson(bytes)
  } catch {
    throw new ContractError('invalid', `${part} is not UTF-8`)
  }
  if (text.includes('\0')) throw new ContractError('invalid', `${part} holds the character U+0000`)
  return text
}

/** Parses a text to a JsonDocument with one string. */
export const parseText: ParseBody = (bytes, done) =>
  giveOrRefuse(done, (): JsonDocument => {
    const text = textOf(bytes, 'body')
    return { value: text, length: text.length }
  })

/** What a form (application/x-www-form-urlencoded) has for each name, percent-encoded, and the length of its text. */
export type FormTexts = { texts: Record<string, string[]>; length: number }

/** Returns what parses a form of at most so many fields to its FormTexts. */
export const formParser =
  (fieldsLimit: number): ParseBody =>
  (bytes, done) =>
    giveOrRefuse(done, (): FormTexts => {
      const text = textOf(bytes, 'body')
      // Counted before anything is made of them: a name of one byte costs a hundred.
      if (fieldsOf(text) > fieldsLimit) throw tooManyFields(fieldsLimit)
      if (/%00/.test(text)) throw new ContractError('invalid', 'body holds the character U+0000')
      try {
        decodeText(text)
      } catch {
        throw new ContractError('invalid', 'body is not percent-encoded UTF-8')
      }
      return { texts: parseQuery(text), length: text.length }
    })

function fieldsOf(text: string): number {
  let count = 1
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) count++
  return count
}

/** Returns the error of a form with too many fields or parts. */
export const tooManyFields = (limit: number): ContractError =>
  new ContractError('bodyTooLarge', `a form has at most ${limit} fields`)

function giveOrRefuse(done: Parameters<ParseBody>[1], parse: () => unknown): void {
  let body: unknown
  try {
    body = parse()
  } catch (error) {
    done(error as Error)
    return
  }
  done(null, body)
}
