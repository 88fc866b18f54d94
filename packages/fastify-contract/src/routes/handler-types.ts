import type { FastifyRequest } from 'fastify'
import type { ServerSentEvent } from '../http/streams.ts'
import type { ByteSource } from '../http/upload.ts'

/*
 * What `generated/handler-types.d.ts` is made of. That file has a plain declaration for each operation, since the compiler
 * would instantiate types that are computed from the document again for each operation, and print them in its messages.
 */

/**
 * The handler of an operation. Its second argument is Fastify's request, with its id, its log and what hooks added to
 * it. To end with an error under `default`, it throws a ContractError, unless `default` is the only response. A
 * ContractError becomes its error response; toContractError in http/error-responses.ts maps any other error.
 */
export type Handler<Request, Response> = (request: Request, fastifyRequest: FastifyRequest) => Promise<Response>

/**
 * The type of no value, under a name that tells the reason in a message of the compiler. The property is no unique symbol,
 * because handlers that are typed by one copy of this package would then not fit another copy.
 */
export interface NoDeclaredHeaders {
  readonly 'no declared headers': never
}

/** The empty object that a handler gets for a location without parameters. */
export type NoDeclaredParameters = Record<never, never>

/** Any value but undefined: what a parameter with a default always has. */
export type Present = NonNullable<unknown> | null

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

/** A body of text, whose schema may describe other values than strings. */
export type TextOf<Value> = Value extends string ? Value : string

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

/** A media type of JSON with any parameters, which a handler names for a range. */
export type JsonType = `${string}/${'' | `${string}+`}json${'' | `;${string}` | ` ;${string}`}`
