import type { ContractError } from '../contract/errors.ts'
import { contentTypeOf, kindOf } from '../contract/media-types.ts'
import { catchRejection } from '../http/caught-errors.ts'
import type { RequestContext, WriteError } from '../http/request-context.ts'
import { stringifyJson } from '../json/write-json.ts'

/** An error: its name and number in x-error-numbers of the document, its status, and a human-readable message. */
export type ErrorFacts = Pick<ContractError, 'kind' | 'statusCode' | 'message'> & { error: number }

/** The request that failed: its X-Request-Id, and its operationId, which is undefined if no operation was reached. */
export type ErrorRequest = Pick<RequestContext, 'id' | 'operation'>

/**
 * Creates the body of each error response of the service, in one of the media types that the document has for errors.
 */
export type ErrorBody<Operations> = (error: ErrorFacts, request: ErrorRequest) => ErrorReply<Operations>

/** The error bodies that a document describes; any body if it describes none. */
type ErrorReply<Operations> = [DeclaredErrors<Operations[keyof Operations]>] extends [never]
  ? AnyErrorReply
  : DeclaredErrors<Operations[keyof Operations]>

type DeclaredErrors<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Key in keyof Responses]: `${Key & (string | number)}` extends `4${string}` | `5${string}` | 'default'
        ? ReplyOf<Responses[Key]>
        : never
    }[keyof Responses]
  : never

type ReplyOf<Response> = Response extends { content: infer Media }
  ? {
      [Type in keyof Media]: Type extends `${string}*${string}`
        ? AnyErrorReply
        : { contentType: Type; body: Media[Type] }
    }[keyof Media]
  : never

type AnyErrorReply = { contentType: string; body: unknown }

/** `ErrorBody` for an arbitrary document. */
export type AnyErrorBody = (error: ErrorFacts, request: ErrorRequest) => AnyErrorReply

/**
 * Returns a function that serializes the bodies of `errorBody` as JSON or text. `numbers` are the error numbers of the
 * document; an error without one has its status times 100. If `errorBody` throws, the exception goes to `report`, and
 * the error is sent as plain text with its own status.
 */
export function errorWriter(
  errorBody: AnyErrorBody,
  numbers: Record<string, number>,
  report: (thrown: unknown) => void,
): WriteError {
  // Caches the result for the latest media type: most documents have one for all errors.
  let latest: string | undefined
  let header = ''
  let isJson = true
  return writeError

  function writeError({ kind, statusCode, message }: ContractError, request: ErrorRequest): ReturnType<WriteError> {
    const number = numbers[kind] ?? statusCode * 100
    try {
      const { contentType, body } = synchronous(
        errorBody({ kind, error: number, statusCode, message }, request),
        report,
      )
      synchronous(body, report)
      if (contentType !== latest) {
        header = contentTypeOf(contentType)
        isJson = kindOf(contentType) === 'json'
        latest = contentType
      }
      return { number, contentType: header, text: isJson ? jsonText(body) : plainText(body) }
    } catch (thrown) {
      report(thrown)
      return { number, contentType: 'text/plain; charset=utf-8', text: message }
    }
  }
}

/** Returns a value that is no promise. Throws for a promise, and reports its rejection. */
function synchronous<Value>(value: Value, report: (thrown: unknown) => void): Value {
  if (!(value instanceof Promise)) return value
  catchRejection(value, report)
  throw new Error('errorBody must return its body at once, not a promise')
}

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

function plainText(body: unknown): string {
  if (['string', 'number', 'bigint', 'boolean'].includes(typeof body)) return String(body)
  throw new Error('errorBody must return a string, number or boolean for a media type other than JSON')
}
