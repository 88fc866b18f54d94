import type { ServerSentEvent } from '../http/server-sent-events.ts'
import type { ByteStream } from '../http/stream-parts.ts'

/**
 * The media type that the client prefers (RFC 9110 section 12.5.1). It is present if a successful response has several
 * media types, or if only error responses have.
 */
export type Negotiated<Operation> = Operation extends { responses: infer Responses }
  ? [Offered<Responses>] extends [never]
    ? unknown
    : { accept: Offered<Responses> }
  : unknown

/**
 * The signal for a handler whose response may be a stream. It aborts when the client disconnects, the handler times out
 * or the service is shutting down.
 */
export type Streamed<Operation> = Operation extends { responses: infer Responses }
  ? [NotJson<MediaTypes<Responses[keyof Responses]>>] extends [never]
    ? unknown
    : { signal: AbortSignal }
  : unknown

/** The body of a response, with `contentType` if the response has several media types or a range. */
export type BodyOf<Response> = Response extends { content: infer Media }
  ? { [Type in keyof Media]: TypedBody<Type, Media[Type], IsUnion<keyof Media>> }[keyof Media]
  : { contentType?: never; body: undefined }

type TypedBody<Type, Value, IsOneOfSeveral> = Type extends `${string}*${string}`
  ? RangeBody<Type, Value>
  : IsOneOfSeveral extends true
    ? { contentType: Type; body: Body<Type, Value> }
    : { contentType?: Type; body: Body<Type, Value> }

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

/** The body that a handler returns for a media type. kindOf in media-types.ts must say the same at run time. */
type Body<Type, Value> = Type extends Json
  ? Value
  : Lowercase<Type & string> extends Json
    ? Value
    : Lowercase<Type & string> extends Events
      ? AsyncIterable<ServerSentEvent<Value>>
      : Lowercase<Type & string> extends Lines
        ? AsyncIterable<Value>
        : Lowercase<Type & string> extends Text
          ? (Value extends string ? Value : string) | Uint8Array | ByteStream
          : Uint8Array | ByteStream

/** Optional parameters of a media type. */
type Parameters = '' | `;${string}` | ` ;${string}`
export type Json = `${string}/json${Parameters}` | `${string}/${string}+json${Parameters}`
type Events = `text/event-stream${Parameters}`
type Lines = `application/${'' | 'x-'}${'jsonl' | 'ndjson' | 'jsonlines'}${Parameters}`
export type Text = `text/${string}` | `${string}/xml${Parameters}` | `${string}+xml${Parameters}`

type NotJson<Type> = Type extends string ? (Lowercase<Type> extends Json ? never : Type) : never

type MediaTypes<Response> = Response extends { content: infer Media } ? keyof Media : never

/** The media types of a response that has several. */
type Several<Response> = Response extends { content: infer Media }
  ? IsUnion<keyof Media> extends true
    ? keyof Media
    : never
  : never

type Success<Responses> = {
  [Key in keyof Responses]: `${Key & (string | number)}` extends `2${string}` ? Key : never
}[keyof Responses]

/** The media types of the successful responses that have several; of `default` if none is successful. */
type OfSuccess<Responses> = Several<
  [Success<Responses>] extends [never] ? Responses['default' & keyof Responses] : Responses[Success<Responses>]
>

/** The media types among which a client chooses; `negotiation` must say the same at run time. */
type Offered<Responses> = [OfSuccess<Responses>] extends [never]
  ? Several<Responses[keyof Responses]>
  : OfSuccess<Responses>

/** The literal `true` if a type is a union of at least two types. */
export type IsUnion<Type, All = Type> = [Type] extends [never]
  ? false
  : Type extends unknown
    ? [All] extends [Type]
      ? false
      : true
    : never
