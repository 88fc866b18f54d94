import type { operations } from '../../generated/api.d.ts'
import type { ContractError } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'

/** An error of the service: its name and number in the table of errors, its status, and a message for people. */
export type ErrorFacts = Pick<ContractError, 'kind' | 'error' | 'statusCode' | 'message'>

/** The request that it ends: the id in X-Request-Id, and the operationId, undefined before an operation is reached. */
export type ErrorRequest = Pick<RequestContext, 'id' | 'operation'>

/** Makes the body of each error that the service answers with itself, of one of the media types of its document's errors. */
export type ErrorBody<Operations = operations> = (error: ErrorFacts, request: ErrorRequest) => ErrorReply<Operations>

/** The bodies of the errors of a document: anything where it describes none. */
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

/** The same for any document. */
export type AnyErrorBody = (error: ErrorFacts, request: ErrorRequest) => AnyErrorReply
