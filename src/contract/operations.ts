import type { operations } from '../../generated/api.d.ts'

/** What a handler takes: the validated parts of the request, by the names that OpenAPI gives their places. */
export type OperationRequest<Operation> = {
  body: RequestBody<Operation>
  path: ParametersIn<Operation, 'path'>
  query: ParametersIn<Operation, 'query'>
  header: ParametersIn<Operation, 'header'>
}

/** What a handler gives: one of the statuses that the operation names, with the body of that status. */
export type OperationReply<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in Extract<keyof Responses, number>]: { status: Status; body: Content<Responses[Status]> } }[Extract<
      keyof Responses,
      number
    >]
  : never

export type Handler<Operation> = (request: OperationRequest<Operation>) => Promise<OperationReply<Operation>>

/** One handler for each operationId of the document, and none besides. */
export type Handlers<Operations = operations> = { [Id in keyof Operations]: Handler<Operations[Id]> }

type Content<Holder> = Holder extends { content: infer Media } ? Media[keyof Media] : undefined

type RequestBody<Operation> = Operation extends { requestBody: infer Body }
  ? Content<Body>
  : Operation extends { requestBody?: infer Body }
    ? Content<NonNullable<Body>> | undefined
    : undefined

type ParametersIn<Operation, Place extends string> = Operation extends { parameters: infer All }
  ? All extends { [Key in Place]?: infer Parameters }
    ? Exclude<Parameters, undefined>
    : never
  : never
