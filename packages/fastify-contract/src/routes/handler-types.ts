import type { FastifyRequest } from 'fastify'
import type { KindOf, StatusIn } from '../contract/generated-types.ts'
import type { ServiceHeader } from '../contract/routes.ts'
import type { Client } from '../http/request-context.ts'
import type { ByteStream, ServerSentEvent } from '../http/streams.ts'
import type { ByteSource } from '../http/upload.ts'

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
 * headers. To end with an error under `default`, it throws a ContractError, unless `default` is the only response.
 */
export type OperationResponse<Operation> = ResponsesOf<{ operation: Operation }, 'operation'>

/*
 * The types below have the types of all operations and the name of one as parameters, instead of the type of that one,
 * because the compiler prints the parameters: its messages then name the operation, and not its whole type.
 */

type ResponsesOf<Operations, Id extends keyof Operations> = {
  [Key in keyof Declared<Operations[Id]>]: [Status<Declared<Operations[Id]>, Key>] extends [never]
    ? never
    : ResponseOf<Operations, Id, Key>
}[keyof Declared<Operations[Id]>]

/** The responses of an operation by their keys in the document. */
type Declared<Operation> = Operation extends { responses: infer Responses } ? Responses : never

/** What a handler returns for one response. */
type ResponseOf<Operations, Id extends keyof Operations, Key extends keyof Declared<Operations[Id]>> = {
  status: Status<Declared<Operations[Id]>, Key>
} & HeadersOf<Declared<Operations[Id]>[Key]> &
  BodyOf<Operations[Id], Declared<Operations[Id]>[Key]>

/** The member `headers`, if a response declares headers that the service does not send itself. */
type HeadersOf<Response> = Response extends { headers: infer Headers }
  ? [keyof DeclaredHeaders<Headers>] extends [never]
    ? { headers?: NoDeclaredHeaders }
    : object extends DeclaredHeaders<Headers>
      ? { headers?: DeclaredHeaders<Headers> }
      : { headers: DeclaredHeaders<Headers> }
  : { headers?: NoDeclaredHeaders }

/**
 * The type of no value, under a name that tells the reason in a message of the compiler. The property is no unique symbol,
 * because handlers that are typed by one copy of this package would then not fit another copy.
 */
interface NoDeclaredHeaders {
  readonly 'no declared headers': never
}

/** The declared headers alone, without the index signature that openapi-typescript adds. */
type DeclaredHeaders<Headers> = {
  [Name in keyof Headers as string extends Name
    ? never
    : Lowercase<Name & string> extends ServiceHeader
      ? never
      : Name]: Headers[Name]
}

type Status<Responses, Key extends keyof Responses> = Key extends number
  ? Key
  : Key extends 'default'
    ? keyof Responses extends 'default'
      ? number
      : never
    : Exclude<StatusIn<Key>, keyof Responses>

/**
 * The handler of an operation. Its second argument is Fastify's request, with its id, its log and what hooks added to
 * it. A ContractError that it throws becomes its error response; toContractError in http/error-responses.ts maps any other
 * error.
 */
export type Handler<Operation> = HandlerOf<{ operation: Operation }, 'operation'>

type HandlerOf<Operations, Id extends keyof Operations> = (
  input: OperationRequest<Operations[Id]>,
  request: FastifyRequest,
) => Promise<ResponsesOf<Operations, Id>>

/** Exactly one handler for each operationId of the document. */
export type Handlers<Operations> = { [Id in keyof Operations]: HandlerOf<Operations, Id> }

type ParametersIn<Operation, Location extends string> = Operation extends { parameters: infer All }
  ? All extends { [Key in Location]?: infer Parameters }
    ? [Parameters] extends [undefined]
      ? NoDeclaredParameters
      : WithDefaults<Exclude<Parameters, undefined>, NamesOfDefaults<Operation, Location>>
    : never
  : never

/** The empty object that a handler gets for a location without parameters. */
type NoDeclaredParameters = Record<never, never>

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

/** The body of a request, with `contentType` if the operation allows several media types or a range. */
type InputBody<Operation> = Operation extends { requestBody: infer Body }
  ? SentBody<Operation, Body>
  : Operation extends { requestBody?: infer Body }
    ? [NonNullable<Body>] extends [never]
      ? { body: undefined }
      : SentBody<Operation, NonNullable<Body>> | NoBody<NonNullable<Body>>
    : { body: undefined }

/**
 * The signal for a handler that reads the body itself. It aborts when the client disconnects or the handler times out.
 */
type Uploaded<Operation> = Operation extends { requestBody?: infer Body }
  ? [Upload<Operation, MediaTypes<NonNullable<Body>>>] extends [never]
    ? unknown
    : { signal: AbortSignal }
  : unknown

type SentBody<Operation, Body> = Body extends { content: infer Media }
  ? { [Type in keyof Media]: TypedRequestBody<Operation, Type, Media[Type], IsUnion<keyof Media>> }[keyof Media]
  : { body: undefined }

/** What a handler gets if the client sends no optional body. */
type NoBody<Body> = true extends IsUnion<MediaTypes<Body>> | IsRange<MediaTypes<Body>>
  ? { contentType: undefined; body: undefined }
  : { body: undefined }

type TypedRequestBody<Operation, Type, Value, IsOneOfSeveral> =
  true extends IsRange<Type>
    ? { contentType: string; body: ByteSource }
    : IsOneOfSeveral extends true
      ? { contentType: Type; body: RequestBodyOf<KindOf<Operation, Type>, Value> }
      : { body: RequestBodyOf<KindOf<Operation, Type>, Value> }

/** The body that a handler gets. */
type RequestBodyOf<Kind, Value> = Kind extends 'json' | 'form'
  ? Value
  : Kind extends 'multipart'
    ? FormParts<Value>
    : Kind extends 'text'
      ? TextOf<Value>
      : Kind extends 'lines'
        ? Lines<Value>
        : Kind extends 'events'
          ? Events<Value>
          : ByteSource

/**
 * The items of a body of JSON Lines, or of a JSON text sequence, in the order in which they are sent. The iteration
 * throws a ContractError for an invalid item, so a handler must commit nothing before the iteration has ended.
 */
export type Lines<Item> = AsyncIterable<Item>

/**
 * The events of a body of server-sent events, in the order in which they are sent. The iteration throws a ContractError
 * for invalid data, so a handler must commit nothing before the iteration has ended.
 */
export type Events<Data> = AsyncIterable<ServerSentEvent<Data>>

type TextOf<Value> = Value extends string ? Value : string

type IsRange<Type> = Type extends `${string}*${string}` ? true : false

/** A media type if the handler reads its bodies itself, else never. */
type Upload<Operation, Type> = Type extends string
  ? true extends IsRange<Type>
    ? Type
    : KindOf<Operation, Type> extends 'json' | 'form' | 'text'
      ? never
      : Type
  : never

/**
 * The parts of a form, in the order in which they are sent. Requesting the next part ends the stream of the previous
 * one. If a required part is missing, the iteration throws a ContractError after the last part. A handler must
 * therefore commit nothing before the iteration has ended.
 */
export type FormParts<Properties> = AsyncIterable<NamedPart<Named<Properties>> | OtherPart<Properties>>

/** The members of a type that have a name, without its index signature. */
type Named<Type> = { [Name in keyof Type as string extends Name ? never : Name]: Type[Name] }

type NamedPart<Properties> = {
  [Name in keyof Properties]-?: PartOf<Name, NonNullable<Properties[Name]>>
}[keyof Properties]

/** A part that only `additionalProperties` describes. */
type OtherPart<Properties> = Properties extends { [name: string]: infer Value }
  ? string extends keyof Properties
    ? AnyPartOf<NonNullable<Value>>
    : never
  : never

type AnyPartOf<Value> = Value extends unknown ? PartOf<string, Value> : never

type PartOf<Name, Value> = [Value] extends [Blob | Blob[]]
  ? { name: Name; filename: string | undefined; contentType: string; stream: ByteSource }
  : { name: Name; value: Value extends (infer Item)[] ? Item : Value }

/**
 * The media type that the client prefers (RFC 9110 section 12.5.1). Present if a successful response declares
 * several, or if only error responses do.
 */
type Negotiated<Operation> = Operation extends { responses: infer Responses }
  ? [NegotiableMediaTypes<Responses>] extends [never]
    ? unknown
    : { accept: NegotiableMediaTypes<Responses> }
  : unknown

/**
 * The signal for a handler whose response may be a stream. It aborts when the client disconnects, the handler times out
 * or the service is shutting down.
 */
type Streamed<Operation> = Operation extends { responses: infer Responses }
  ? [NotJson<Operation, MediaTypes<Responses[keyof Responses]>>] extends [never]
    ? unknown
    : { signal: AbortSignal }
  : unknown

/** The body of a response, with `contentType` if the response has several media types or a range. */
type BodyOf<Operation, Response> = Response extends { content: infer Media }
  ? { [Type in keyof Media]: TypedResponseBody<Operation, Type, Media[Type], IsUnion<keyof Media>> }[keyof Media]
  : { contentType?: never; body: undefined }

type TypedResponseBody<Operation, Type, Value, IsOneOfSeveral> = Type extends `${string}*${string}`
  ? RangeBody<Type, Value>
  : NeedsBoundary<Type> extends true
    ? { contentType: `${Type & string};${string}boundary=${string}`; body: Uint8Array | ByteStream }
    : IsOneOfSeveral extends true
      ? { contentType: Type; body: ResponseBodyOf<KindOf<Operation, Type>, Value> }
      : { contentType?: Type; body: ResponseBodyOf<KindOf<Operation, Type>, Value> }

/** Whether the boundary between the parts of a body is missing in its media type: the handler chooses it. */
type NeedsBoundary<Type> = Type extends `${string}boundary=${string}`
  ? false
  : Type extends `multipart/${string}`
    ? true
    : false

/** The bodies of a media type range. The schema applies to JSON only. */
type RangeBody<Range extends string, Value> =
  | { contentType: Json; body: Value }
  | { contentType: Concrete<Range>; body: string | Uint8Array | ByteStream }

/** The media types within a range. */
type Concrete<Range extends string> = Range extends `*/${string}`
  ? `${string}/${string}`
  : Range extends `${infer Type}/${string}`
    ? `${Type}/${string}`
    : never

/** The body that a handler returns. */
type ResponseBodyOf<Kind, Value> = Kind extends 'json'
  ? Value
  : Kind extends 'events'
    ? AsyncIterable<ServerSentEvent<Value>>
    : Kind extends 'lines'
      ? AsyncIterable<Value>
      : (Kind extends 'text' ? TextOf<Value> : never) | Uint8Array | ByteStream

/** A media type of JSON with any parameters, which a handler names for a range. */
type Json = `${string}/${'' | `${string}+`}json${'' | `;${string}` | ` ;${string}`}`

type NotJson<Operation, Type> = Type extends string
  ? true extends IsRange<Type>
    ? Type
    : KindOf<Operation, Type> extends 'json'
      ? never
      : Type
  : never

/** The media types of a body. */
type MediaTypes<Holder> = Holder extends { content: infer Media } ? keyof Media : never

/** The media types of a response that has several, without ranges. */
type MultipleMediaTypes<Response> = Response extends { content: infer Media }
  ? IsUnion<keyof Media> extends true
    ? Exclude<keyof Media, `${string}*${string}`>
    : never
  : never

type Success<Responses> = {
  [Key in keyof Responses]: `${Key & (string | number)}` extends `2${string}` ? Key : never
}[keyof Responses]

/** The media types of the successful responses that have several; of `default` if none is successful. */
type SuccessMediaTypes<Responses> = MultipleMediaTypes<
  [Success<Responses>] extends [never] ? Responses['default' & keyof Responses] : Responses[Success<Responses>]
>

/** The media types among which a client chooses; `contentNegotiation` must say the same at run time. */
type NegotiableMediaTypes<Responses> = [SuccessMediaTypes<Responses>] extends [never]
  ? MultipleMediaTypes<Responses[keyof Responses]>
  : SuccessMediaTypes<Responses>

/** The literal `true` if a type is a union of at least two types. */
type IsUnion<Type, All = Type> = [Type] extends [never]
  ? false
  : Type extends unknown
    ? [All] extends [Type]
      ? false
      : true
    : never
