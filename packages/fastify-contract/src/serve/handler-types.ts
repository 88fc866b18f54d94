import type { operations } from '../../../../generated/api.d.ts'
import type { Client } from '../http/authenticated-client.ts'
import type { InputBody, Uploaded } from './request-types.ts'
import type { BodyOf, Negotiated, Streamed } from './response-types.ts'
import type { ServiceHeader } from './service-headers.ts'

/** The argument of a handler: the client, and the validated parts of the request under OpenAPI's names. */
export type OperationRequest<Operation> = InputBody<Operation> & {
  path: ParametersIn<Operation, 'path'>
  query: ParametersIn<Operation, 'query'>
  header: ParametersIn<Operation, 'header'>
  cookie: ParametersIn<Operation, 'cookie'>
  /** Undefined if the operation needs no authentication, or its security scheme identifies no client. */
  client: Client | undefined
} & Negotiated<Operation> &
  Streamed<Operation> &
  Uploaded<Operation>

/**
 * The result of a handler: a status that the operation lists, alone or in a range such as 4XX, with its body and
 * headers. A handler throws the errors that `default` describes; it returns them only if the operation lists nothing
 * else.
 */
export type OperationResponse<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Key in keyof Responses]: [Status<Responses, Key>] extends [never]
        ? never
        : { status: Status<Responses, Key> } & HeadersOf<Responses[Key]> & BodyOf<Responses[Key]>
    }[keyof Responses]
  : never

/** The member `headers`, if a response declares headers that the service does not send itself. */
type HeadersOf<Response> = Response extends { headers: infer Declared }
  ? [keyof GivenHeaders<Declared>] extends [never]
    ? { headers?: never }
    : object extends GivenHeaders<Declared>
      ? { headers?: GivenHeaders<Declared> }
      : { headers: GivenHeaders<Declared> }
  : { headers?: never }

/** The declared headers alone, without the index signature that openapi-typescript adds. */
type GivenHeaders<Declared> = {
  [Name in keyof Declared as string extends Name
    ? never
    : Lowercase<Name & string> extends ServiceHeader
      ? never
      : Name]: Declared[Name]
}

type Status<Responses, Key extends keyof Responses> = Key extends number
  ? Key
  : Key extends 'default'
    ? keyof Responses extends 'default'
      ? number
      : never
    : Exclude<StatusIn<Key>, keyof Responses>

/** The statuses of a range such as 4XX (OpenAPI 3.1 section 4.8.16.2). */
type StatusIn<Range> = Range extends `${infer Class}XX` ? NumberOf<`${Class}${Digit}${Digit}`> : never
type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
type NumberOf<Text> = Text extends `${infer Value extends number}` ? Value : never

/**
 * The handler of an operation. A ContractError that it throws becomes its error response; toContractError in
 * http/errors.ts maps any other error.
 */
export type Handler<Operation> = (request: OperationRequest<Operation>) => Promise<OperationResponse<Operation>>

/** Exactly one handler for each operationId of the document. */
export type Handlers<Operations = operations> = { [Id in keyof Operations]: Handler<Operations[Id]> }

type ParametersIn<Operation, Location extends string> = Operation extends { parameters: infer All }
  ? All extends { [Key in Location]?: infer Parameters }
    ? WithDefaults<Exclude<Parameters, undefined>, NamesOfDefaults<Operation, Location>>
    : never
  : never

/** The parameters with a default: the handler always gets a value for them. */
type NamesOfDefaults<Operation, Location extends string> = Operation extends {
  defaults: { [Key in Location]: infer Names }
}
  ? Names
  : never

/** The parameters, of which those with these names are always present. */
type WithDefaults<Parameters, Names> = [Names] extends [never]
  ? Parameters
  : { [Name in keyof Parameters as Name extends Names ? never : Name]: Parameters[Name] } & {
      [Name in keyof Parameters as Name extends Names ? Name : never]-?: Exclude<Parameters[Name], undefined>
    }
