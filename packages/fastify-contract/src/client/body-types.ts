/** The member `body` of a call, with `contentType` where that is not `application/json`. */
export type BodyOption<Operation> = Operation extends { requestBody: infer Holder }
  ? GivenBody<Holder>
  : Operation extends { requestBody?: infer Holder }
    ? GivenBody<NonNullable<Holder>> | { contentType?: undefined; body?: undefined }
    : unknown

type GivenBody<Holder> = Holder extends { content: infer Media }
  ? { [Type in keyof Media]: TypedBody<Type, Media[Type]> }[keyof Media]
  : unknown

type TypedBody<Type, Value> = Type extends 'application/json'
  ? { contentType?: Type; body: Value }
  : Type extends `${string}*${string}`
    ? { contentType: string; body: Bytes }
    : { contentType: Type; body: Body<Lowercase<Type & string>, Value> }

type Body<Type extends string, Value> = Type extends Json | `${FormType}${'' | `;${string}`}`
  ? Value
  : Type extends Text
    ? Value extends string
      ? Value
      : string
    : Bytes

type Json = `${string}/${'' | `${string}+`}json${'' | `;${string}`}`
type FormType = 'application/x-www-form-urlencoded' | 'multipart/form-data'
type Text = `text/${string}` | `${string}${'/' | '+'}xml${'' | `;${string}`}`
type Bytes = Blob | ArrayBuffer | Uint8Array | ReadableStream<Uint8Array> | string
