import type { ByteSource } from '../http/tapped-stream.ts'
import type { IsUnion, Json, Text } from './response-types.ts'

/** The body of a request, with `contentType` if the operation allows several media types or a range. */
export type InputBody<Operation> = Operation extends { requestBody: infer Body }
  ? SentBody<Body>
  : Operation extends { requestBody?: infer Body }
    ? [NonNullable<Body>] extends [never]
      ? { body: undefined }
      : SentBody<NonNullable<Body>> | NoBody<NonNullable<Body>>
    : { body: undefined }

/**
 * The signal for a handler that reads the body itself. It aborts when the client disconnects or the handler times out.
 */
export type Uploaded<Operation> = Operation extends { requestBody?: infer Body }
  ? [Upload<MediaTypes<NonNullable<Body>>>] extends [never]
    ? unknown
    : { signal: AbortSignal }
  : unknown

type SentBody<Body> = Body extends { content: infer Media }
  ? { [Type in keyof Media]: TypedBody<Type, Media[Type], IsUnion<keyof Media>> }[keyof Media]
  : { body: undefined }

/** What a handler gets if the client sends no optional body. */
type NoBody<Body> = true extends IsUnion<MediaTypes<Body>> | IsRange<MediaTypes<Body>>
  ? { contentType: undefined; body: undefined }
  : { body: undefined }

type TypedBody<Type, Value, IsOneOfSeveral> =
  true extends IsRange<Type>
    ? { contentType: string; body: ByteSource }
    : IsOneOfSeveral extends true
      ? { contentType: Type; body: Body<Type, Value> }
      : { body: Body<Type, Value> }

/** The body that a handler gets for a media type. requestKindOf in request-media.ts must say the same at run time. */
type Body<Type, Value> =
  Lowercase<Type & string> extends Json | Essence<'application/x-www-form-urlencoded'>
    ? Value
    : Lowercase<Type & string> extends Essence<'multipart/form-data'>
      ? FormParts<Value>
      : Lowercase<Type & string> extends Streamed
        ? ByteSource
        : Lowercase<Type & string> extends Text
          ? Value extends string
            ? Value
            : string
          : ByteSource

/** Media types of text that may have no end, so they are streamed instead of read whole. */
type Streamed = Essence<'text/event-stream'>

type Essence<Name extends string> = Name | `${Name};${string}` | `${Name} ;${string}`

type IsRange<Type> = Type extends `${string}*${string}` ? true : false

/** A media type if the handler reads its bodies itself, else never. */
type Upload<Type> = Type extends string
  ? true extends IsRange<Type>
    ? Type
    : Body<Type, string> extends string
      ? never
      : Type
  : never

type MediaTypes<Body> = Body extends { content: infer Media } ? keyof Media : never

/**
 * The parts of a form, in the order in which they are sent. Requesting the next part ends the stream of the previous
 * one. If a required part is missing, the iteration throws a ContractError after the last part. A handler must
 * therefore commit nothing before the iteration has ended.
 */
export type FormParts<Properties> = AsyncIterable<
  { [Name in keyof Properties]-?: PartOf<Name, NonNullable<Properties[Name]>> }[keyof Properties]
>

type PartOf<Name, Value> = [Value] extends [Blob | Blob[]]
  ? { name: Name; filename: string | undefined; contentType: string; stream: ByteSource }
  : { name: Name; value: Value extends (infer Item)[] ? Item : Value }
