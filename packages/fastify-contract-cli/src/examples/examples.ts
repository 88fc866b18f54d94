import {
  type HandlerResponse,
  isRange,
  kindOf,
  type MediaKind,
  needsBoundary,
  type Schema,
  schemaKeywords,
} from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { headersOf, isGiven } from '../document/contents.ts'
import { resolve } from '../document/json-pointer.ts'
import type { Document, Endpoint, Located, Parameter, Response } from '../document/openapi-document.ts'
import type { Example, WithExample } from '../document/parameter-objects.ts'
import { isInt64, partsOf, reachability, schemasOfParts } from '../document/schemas.ts'
import { isNode, type Node } from '../document/walk-document.ts'
import { multipartBody } from './example-parts.ts'
import { exampleOf, filledExampleOf, generatedCount, generatedValue } from './schema-values.ts'

/**
 * Returns the example response of a successful call: the first 2xx response, or else the first response of all. The
 * body has the media type `accept` if the response declares it, or else the one that `mediaTypeOf` prefers.
 */
export function exampleResponse(document: Document, endpoint: Endpoint, accept?: string): HandlerResponse {
  const { status, response } = successOf(endpoint)
  return { status, ...exampleHeaders(document, response), ...exampleBody(document, response, { accept }) }
}

/** Whether a response is a whole example of the document, or has examples of parts. */
export type ExampleOrigin = 'whole' | 'parts'

/** An example response. Its origin is undefined if it is made from keywords alone. */
export type ExampleResponse = { outcome: HandlerResponse; origin: ExampleOrigin | undefined }

/**
 * Yields the response of `exampleResponse`, and then, in case an example breaks its schema, one that is made from the
 * examples of the schema and some that are made without them, each with both kinds of headers. One without a body is whole.
 */
export function* exampleResponses(document: Document, endpoint: Endpoint): Generator<ExampleResponse> {
  const { status, response } = successOf(endpoint)
  const given = exampleHeaders(document, response)
  const choices = given.headers === undefined ? [given] : [given, exampleHeaders(document, response, generatedValue)]
  for (const { body, origin } of exampleBodies(document, response)) {
    for (const headers of choices) yield { outcome: { status, ...headers, ...body }, origin }
  }
}

type Body = { body: ExampleBody; origin?: ExampleOrigin | undefined }

function* exampleBodies(document: Document, response: Response): Generator<Body> {
  const media = response.content?.[mediaTypeOf(response) ?? ''] as WithExample | undefined
  const schema = media?.schema ?? {}
  const origin = originInSchema(document, schema)
  const body = exampleBody(document, response)
  yield { body, origin: media === undefined || hasDocumentExample(media) ? 'whole' : origin }
  if (media === undefined) return
  const made = (value: unknown) => bodyOf(response, undefined, value)
  yield { body: made(exampleOf(document, schema)), origin }
  for (let index = 0; index < generatedCount; index++) yield { body: made(generatedValue(document, schema, index)) }
}

/** By document: a function that returns whether a schema leads to one with an example. It visits each schema once. */
const reachesExample = new WeakMap<Document, (schema: Schema) => boolean>()

const hasExampleKeyword = (one: Node): boolean => one.example !== undefined || one.examples !== undefined

function originInSchema(document: Document, schema: Schema): ExampleOrigin | undefined {
  if (partsOf(document, schema).some((part) => hasExampleKeyword(part.schema))) return 'whole'
  const reaches = reachesExample.get(document) ?? reachability(document, Object.keys(schemaKeywords), hasExampleKeyword)
  reachesExample.set(document, reaches)
  return reaches(schema) ? 'parts' : undefined
}

const hasDocumentExample = ({ example, examples }: WithExample): boolean =>
  example !== undefined || Object.keys(examples ?? {}).length > 0

/** Returns the first 2xx response, or else the first one. The generator rejects operations without a response. */
function successOf({ responses }: Endpoint): { status: number; response: Located<Response> } {
  const statuses = Object.keys(responses)
  const status = (statuses.find((each) => each.startsWith('2')) ?? statuses[0]) as string
  return {
    status: Number(status.replace('XX', '00').replace('default', '200')),
    response: responses[status] as Located<Response>,
  }
}

type Fields = Pick<HandlerResponse, 'headers'>

/**
 * Returns examples of the headers that a handler sets, each int64 as a bigint; an empty object if it sets none. With
 * `make`, their schemas give the values. Leaves out an optional Content-Encoding, as the example of a body is not encoded.
 */
export function exampleHeaders(document: Document, response: Located<Response>, make?: typeof exampleOf): Fields {
  const headers: [string, unknown][] = []
  for (const [name, header] of headersOf(document, response)) {
    if (!isGiven(name) || (!header.required && name.toLowerCase() === 'content-encoding')) continue
    const value = make?.(document, header.schema ?? {}) ?? exampleOfContent(document, header as WithExample)
    const isExact = schemasOfParts(partsOf(document, header.schema ?? true)).some(isInt64)
    headers.push([name, isExact && Number.isSafeInteger(value) ? BigInt(value as number) : value])
  }
  return headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }
}

type Choice = { name?: string | undefined; accept?: string | undefined }

/**
 * Returns the example body of a response: the example called `name`, or else the first one; undefined without content.
 * Its media type is that of `mediaTypeOf`.
 */
export function exampleBody(document: Document, response: Response, { name, accept }: Choice = {}): ExampleBody {
  const media = response.content?.[mediaTypeOf(response, accept) ?? '']
  return bodyOf(response, accept, media && exampleOfContent(document, media as WithExample, name))
}

type ExampleBody = Pick<HandlerResponse, 'contentType' | 'body'>

/**
 * Returns `accept` if the response declares it, or else its first media type with an example, or else its first one of
 * JSON, since a value can be made of JSON only, or else its first one.
 */
function mediaTypeOf({ content = {} }: Response, accept?: string): string | undefined {
  if (accept !== undefined && Object.hasOwn(content, accept)) return accept
  const types = Object.keys(content)
  const withExample = types.find((type) => hasDocumentExample(content[type] as WithExample))
  return withExample ?? types.find((type) => kindOf(type) === 'json') ?? types[0]
}

/** Returns an example as a handler returns it: a JSON value unchanged, others as text, bytes or a stream. */
function bodyOf(response: Response, accept: string | undefined, value: unknown): ExampleBody {
  const mediaType = mediaTypeOf(response, accept)
  if (mediaType === undefined) return { body: undefined }
  const contentType = concreteType(mediaType)
  if (needsBoundary(contentType)) return multipartBody(contentType, value)
  const isNamed = contentType !== mediaType || Object.keys(response.content ?? {}).length > 1
  const body = (converters[kindOf(contentType)] ?? toBytes)(value)
  return isNamed ? { contentType, body } : { body }
}

const toBytes = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : '')

/** Convert an example to the body that a handler returns, by kind of media type; all others are bytes. */
const converters: Partial<Record<MediaKind, (value: unknown) => unknown>> = {
  json: (value) => value,
  events: (data) => exampleStream([{ data }]),
  lines: (value) => exampleStream([value].flat()),
  text: (value) => (typeof value === 'string' ? value : stringifyJson(value)),
}

/** An example of a stream, whose items are known. */
type ExampleStream = AsyncIterable<unknown> & { items: unknown[] }

/** Returns a stream that yields these items. */
export const exampleStream = (items: unknown[]): ExampleStream => ({
  items,
  async *[Symbol.asyncIterator]() {
    yield* items
  },
})

/** Returns whether an example body is a stream. */
export const isExampleStream = (body: unknown): body is ExampleStream => isNode(body) && Symbol.asyncIterator in body

/** A sample media type for each common range. */
const ofRanges: Record<string, string> = {
  '*/*': 'application/json',
  'application/*': 'application/json',
  'text/*': 'text/plain',
  'image/*': 'image/png',
}

/** Returns a media type that a range covers; a media type that is not a range is returned as it is. */
export const concreteType = (mediaType: string): string =>
  isRange(mediaType) ? (ofRanges[mediaType] ?? mediaType.replace(/\*.*/, 'x-example')) : mediaType

/** Returns the example called `name`, or else the first one, or else a value built from the schema. */
function exampleOfContent(document: Document, content: WithExample, name?: string): unknown {
  const found = givenExample(document, content, name)
  return found === undefined ? exampleOf(document, content.schema ?? {}) : found
}

/** Returns the first example of a part of a request, or else a value built from its schema. */
export function exampleOfRequest(document: Document, content: WithExample): unknown {
  const found = givenExample(document, content)
  return found === undefined
    ? filledExampleOf(document, content.schema ?? {}, (content as Partial<Parameter>).name)
    : found
}

function givenExample(document: Document, { example, examples: given }: WithExample, name?: string): unknown {
  const examples: Record<string, Example> = Object(given)
  const chosen = name !== undefined && Object.hasOwn(examples, name) ? examples[name] : undefined
  const [first] = Object.values(examples)
  const named = chosen ?? (example === undefined ? first : undefined)
  return named === undefined ? example : (withReferenced(document, named) as Example).value
}

/** Returns whether the first media type of a response has an example called `name`. */
export const hasExample = ({ content = {} }: Response, name: string): boolean =>
  Object.values(content as Record<string, WithExample>)
    .slice(0, 1)
    .some(({ examples }) => Object.hasOwn(Object(examples), name))

/** Returns an object with the fields of the object that its $ref refers to, unless it has them itself. */
function withReferenced(document: Document, node: unknown): Record<string, unknown> {
  const { $ref, ...rest } = (node ?? {}) as { $ref?: string }
  return $ref === undefined ? rest : { ...withReferenced(document, resolve(document, $ref)), ...rest }
}
