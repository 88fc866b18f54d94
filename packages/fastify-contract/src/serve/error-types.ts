import type { operations } from '../../../../generated/api.d.ts'
import type { ContractError } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'

/** An error of the service: its name and number in the error table, its status, and a human-readable message. */
export type ErrorFacts = Pick<ContractError, 'kind' | 'error' | 'statusCode' | 'message'>

/** The request that failed: its X-Request-Id, and its operationId, which is undefined if no operation was reached. */
export type ErrorRequest = Pick<RequestContext, 'id' | 'operation'>

/**
 * Creates the body of each error response of the service, in one of the media types that the document has for errors.
 */
export type ErrorBody<Operations = operations> = (error: ErrorFacts, request: ErrorRequest) => ErrorReply<Operations>

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
