import type { ContractError } from '../http/errors.ts'
import type { WriteError, WrittenError } from '../http/written-error.ts'
import { stringifyJson } from '../json/stringify-json.ts'
import type { AnyErrorBody } from './error-types.ts'
import { contentTypeOf, kindOf } from './media-types.ts'

/**
 * Returns what writes the bodies that a function makes of errors: JSON, or a text. Where the function throws, `report` is
 * told, and the error leaves as plain text with its status.
 */
export function errorWriter(errorBody: AnyErrorBody, report: (thrown: unknown) => void): WriteError {
  // Of a media type, what follows from it; most documents have one for all errors.
  let latest: string | undefined
  let header = ''
  let isJson = true
  return (error, request) => {
    try {
      const { contentType, body } = errorBody(error, request)
      if (contentType !== latest) {
        header = contentTypeOf(contentType)
        isJson = kindOf(contentType) === 'json'
        latest = contentType
      }
      return { contentType: header, text: isJson ? jsonText(body) : textOf(body) }
    } catch (thrown) {
      report(thrown)
      return plain(error)
    }
  }
}

const plain = ({ message }: ContractError): WrittenError => ({
  contentType: 'text/plain; charset=utf-8',
  text: message,
})

/** JSON.stringify is faster, and refuses a bigint. Both have no text for what JSON does not know. */
function jsonText(body: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(body)
  } catch {
    text = stringifyJson(body)
  }
  if (text === undefined) throw new Error('errorBody must return a body that JSON has')
  return text
}

function textOf(body: unknown): string {
  if (['string', 'number', 'bigint', 'boolean'].includes(typeof body)) return String(body)
  throw new Error('errorBody must return a text for a media type that is not JSON')
}
