import type { ContractError } from '../http/errors.ts'
import type { WriteError, WrittenError } from '../http/serialized-error.ts'
import { stringifyJson } from '../json/stringify-json.ts'
import type { AnyErrorBody } from './error-types.ts'
import { contentTypeOf, kindOf } from './media-types.ts'

/**
 * Returns a function that serializes the bodies of `errorBody` as JSON or text. If `errorBody` throws, the exception
 * goes to `report`, and the error is sent as plain text with its own status.
 */
export function errorWriter(errorBody: AnyErrorBody, report: (thrown: unknown) => void): WriteError {
  // Caches the result for the latest media type: most documents have one for all errors.
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

/** JSON.stringify is faster but throws for a bigint. Both return undefined for a value that JSON cannot represent. */
function jsonText(body: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(body)
  } catch {
    text = stringifyJson(body)
  }
  if (text === undefined) throw new Error('errorBody must return a body that JSON can represent')
  return text
}

function textOf(body: unknown): string {
  if (['string', 'number', 'bigint', 'boolean'].includes(typeof body)) return String(body)
  throw new Error('errorBody must return a string, number or boolean for a media type other than JSON')
}
