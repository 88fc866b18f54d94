import type { KindOf, StatusIn } from '../contract/generated-types.ts'

/*
 * The types of calls, derived from the `paths` that openapi-typescript generates. There, a member that an operation
 * does not have is optional and of type never.
 */

/** The paths of a document that have a method. `Method` is in lower case. */
export type PathOf<Paths, Method extends string> = {
  [Path in keyof Paths]: Paths[Path] extends Record<Method, object> ? Path : never
}[keyof Paths]

/** The operation of a path and a method. `Method` is in lower case. */
export type OperationAt<Paths, Path extends keyof Paths, Method extends string> =
  Paths[Path] extends Record<Method, infer Operation> ? Operation : never

/** The forms of a body by `parseAs`: JSON or items with their type in the document, or the body as it came. */
type BodyAs<Body> = {
  json: Body
  text: string
  blob: Blob
  arrayBuffer: ArrayBuffer
  stream: ReadableStream<Uint8Array>
}
export type ParseAs = keyof BodyAs<unknown>

/** A server-sent event. `id` and `retry` may also come from lines before it that had no data. */
export type ReceivedEvent<Data> = {
  data: Data
  event?: string
  /** The id that a client sends as Last-Event-ID to continue after this event. */
  id?: string
  /** Milliseconds after which a client should reconnect. */
  retry?: number
}

/** The options of a call: the parameters and body of the operation, and other options of `fetch`. */
export type CallOptions<Operation, As extends ParseAs = ParseAs> = Omit<RequestInit, 'method' | 'body'> & {
  /** The function that sends this request; default: that of the client. */
  fetch?: (request: Request) => Promise<Response>
  /** The base URL of this request; default: that of the client. */
  baseUrl?: string
  /** The form of the body of a 2xx; default: json. */
  parseAs?: As
  /** How often this request is sent again if it has an idempotency key; default: that of the client. */
  retries?: number
  /** The number of characters above which an item of this response is an error; default: that of the client. */
  maxItemLength?: number
} & Optional<'params', Parameters<Operation>> &
  BodyOption<Operation> &
  PreconditionOptions<Operation>

/** Entity tags as in the header ETag of a response, quotes included, or `*`. */
export type Tags = string | readonly string[]

/** The preconditions of a call, for an operation that lists 304 or 412. */
type PreconditionOptions<Operation> = Operation extends { responses: infer Responses }
  ? (304 extends keyof Responses ? { ifNoneMatch?: Tags } : unknown) &
      (412 extends keyof Responses ? { ifMatch?: Tags; ifNoneMatch?: Tags } : unknown)
  : unknown

/** The arguments of a call. The options are optional where the operation requires none. */
export type CallArguments<Options> = object extends Options ? [options?: Options] : [options: Options]

/**
 * The outcome of a call: a union with one member for each response of the operation, discriminated by its status. A
 * `default` response is an error, unless the operation has no other response.
 */
export type CallOutcome<Operation, Method extends string, As extends ParseAs = 'json'> = Operation extends {
  responses: infer Responses
}
  ? {
      [Key in keyof Responses]: Key extends 'default'
        ? DefaultOutcome<keyof Responses, Bodies<Operation, Responses[Key], Method>, As>
        : OutcomeOf<Statuses<Responses, Key>, Bodies<Operation, Responses[Key], Method>, As>
    }[keyof Responses]
  : never

/** The bodies of a response, as a success and as an error: an error is read whole. */
type Bodies<Operation, Holder, Method extends string> = {
  data: Content<Operation, Holder, Method>
  error: Content<unknown, Holder, Method>
}
type AnyBodies = { data: unknown; error: unknown }

/** The statuses of a default that is an error are not filtered once more: the compiler would instantiate each of them. */
type DefaultOutcome<Keys, Body extends AnyBodies, As extends ParseAs> = [Keys] extends ['default']
  ? OutcomeOf<Success | Failure, Body, As>
  : Member<Unlisted<Keys>, { data?: undefined; error: Body['error'] }>

type OutcomeOf<Status, Body extends AnyBodies, As extends ParseAs> =
  | Member<
      Extract<Status, Success>,
      { data: Body['data'] extends undefined ? undefined : BodyAs<Body['data']>[As]; error?: undefined }
    >
  | Member<Exclude<Status, Success>, { data?: undefined; error: Body['error'] }>

type Member<Status, Body> = [Status] extends [never] ? never : Body & { status: Status; response: Response }

type Statuses<Responses, Key extends keyof Responses> = Key extends number
  ? Key
  : Exclude<StatusIn<Key>, keyof Responses>

type Unlisted<Keys> = Exclude<Failure, Extract<Keys, number> | StatusIn<Keys>>

type Success = StatusIn<'2XX'>
type Failure = StatusIn<'3XX' | '4XX' | '5XX'>

/** The body of a response: a value, or the items of a sequential media type. */
type Content<Operation, Holder, Method extends string = ''> = Method extends 'head'
  ? undefined
  : Holder extends { content: infer Media }
    ? { [Type in keyof Media]: Received<KindOf<Operation, Type>, Media[Type]> }[keyof Media]
    : undefined

type Received<Kind, Value> = Kind extends 'lines'
  ? AsyncGenerator<Value, void>
  : Kind extends 'events'
    ? AsyncGenerator<ReceivedEvent<Value>, void>
    : Value

/** The parameters without cookies, which browsers do not let scripts set. */
type Parameters<Operation> = Operation extends { parameters: infer All }
  ? [KeyName<All>] extends [never]
    ? Sent<All>
    : Sent<Omit<All, 'header'>> & Optional<'header', WithOptionalKey<All>>
  : unknown

type Sent<All> = {
  [Place in keyof All as Place extends 'cookie' ? never : Present<All[Place], Place>]: All[Place]
}

/** The name of the header for an idempotency key, which the client can make itself. */
type KeyName<All> = All extends { header: infer Headers }
  ? { [Name in keyof Headers]: Lowercase<Name & string> extends 'idempotency-key' ? Name : never }[keyof Headers]
  : never

type WithOptionalKey<All> = All extends { header: infer Headers }
  ? Omit<Headers, KeyName<All>> & { [Name in KeyName<All> & keyof Headers]?: Headers[Name] }
  : never

type Present<Value, Key> = [Exclude<Value, undefined>] extends [never] ? never : Key

type Optional<Key extends string, Value> = object extends Value ? { [Name in Key]?: Value } : { [Name in Key]: Value }

/** The member `body` of a call, with `contentType` where that is not `application/json`. */
type BodyOption<Operation> = Operation extends { requestBody: infer Holder }
  ? GivenBody<Operation, Holder>
  : Operation extends { requestBody?: infer Holder }
    ? GivenBody<Operation, NonNullable<Holder>> | { contentType?: undefined; body?: undefined }
    : unknown

type GivenBody<Operation, Holder> = Holder extends { content: infer Media }
  ? { [Type in keyof Media]: TypedBody<Type, KindOf<Operation, Type>, Media[Type]> }[keyof Media]
  : unknown

type TypedBody<Type, Kind, Value> = Type extends 'application/json'
  ? { contentType?: Type; body: Value }
  : Type extends `${string}*${string}`
    ? { contentType: string; body: Bytes }
    : Type extends `multipart/${string}`
      ? { contentType: MultipartType<Type, Kind>; body: Body<Kind, Value> }
      : { contentType: Type; body: Body<Kind, Value> }

/** A media type of parts; with their boundary, unless the client writes them. */
type MultipartType<Type extends string, Kind> = Kind extends 'multipart' ? Type : Type | `${Type};${string}`

type Body<Kind, Value> = Kind extends 'json' | 'form' | 'multipart'
  ? Value
  : Kind extends 'text'
    ? Value extends string
      ? Value
      : string
    : Kind extends 'lines'
      ? Value[] | Bytes
      : Bytes

type Bytes = Blob | ArrayBuffer | Uint8Array | ReadableStream<Uint8Array> | string
