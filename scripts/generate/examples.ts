import { type BodyKind, isRange, kindOf } from '../../src/openapi/media-types.ts'
import type { Schema } from '../../src/openapi/schema-keywords.ts'
import type { Outcome } from '../../src/openapi/send-response.ts'
import { exampleOf, filledExampleOf, madeValue } from './example-values.ts'
import { isInt64 } from './inexact-integers.ts'
import { resolve } from './json-pointer.ts'
import type { Document, Endpoint, Located, Response } from './openapi-document.ts'
import { headersOf, isGiven } from './response-headers.ts'
import { partsOf } from './schema-parts.ts'
import { isNode } from './walk-document.ts'

type Example = { value?: unknown }

/** A media type or a parameter. */
export type WithExample = { schema?: Schema; example?: unknown; examples?: Record<string, Example> }

/**
 * Returns the answer of an operation that succeeds, as the document shows it: the first 2xx, else its first response; in
 * the media type `accept`, or in its first one.
 */
export function exampleReply(document: Document, endpoint: Endpoint, accept?: string): Outcome {
  const { status, response } = successOf(endpoint)
  return { status, ...exampleHeaders(document, response), ...exampleBody(document, response, { accept }) }
}

/**
 * Returns the same answer with other bodies, should the example not be what its schema says: one made of the examples of
 * the schema, and one without any.
 */
export function madeReplies(document: Document, endpoint: Endpoint): Outcome[] {
  const { status, response } = successOf(endpoint)
  return Object.entries(response.content ?? {})
    .slice(0, 1)
    .flatMap(([, { schema = {} }]) => [exampleOf(document, schema), madeValue(document, schema)])
    .map((value) => ({ status, ...exampleHeaders(document, response), ...bodyOf(response, undefined, value) }))
}

/** Each operation has a response: one without is refused. */
function successOf({ responses }: Endpoint): { status: number; response: Located<Response> } {
  const statuses = Object.keys(responses)
  const status = (statuses.find((each) => each.startsWith('2')) ?? statuses[0]) as string
  return {
    status: Number(status.replace('XX', '00').replace('default', '200')),
    response: responses[status] as Located<Response>,
  }
}

/** Returns the headers that a handler gives with a response, as the document shows them, each int64 a bigint; none for none. */
export function exampleHeaders(document: Document, response: Located<Response>): Pick<Outcome, 'headers'> {
  const shown = headersOf(document, response)
    .filter(([name]) => isGiven(name))
    .map(([name, header]) => {
      const value = exampleOfContent(document, header as WithExample)
      const isExact = partsOf(document, header.schema ?? true).some(({ schema }) => isInt64(schema))
      return [name, isExact && Number.isInteger(value) ? BigInt(value as number) : value]
    })
  return shown.length === 0 ? {} : { headers: Object.fromEntries(shown) }
}

type Choice = { name?: string | undefined; accept?: string | undefined }

/**
 * Returns the body of a response, as the document shows it: the example of a name, else the first; undefined for none. It
 * is of the media type `accept`, or of the first one.
 */
export function exampleBody(document: Document, response: Response, { name, accept }: Choice = {}): ShownBody {
  const media = response.content?.[mediaTypeOf(response, accept) ?? '']
  return bodyOf(response, accept, media && exampleOfContent(document, media as WithExample, name))
}

type ShownBody = Pick<Outcome, 'contentType' | 'body'>

function mediaTypeOf({ content = {} }: Response, accept: string | undefined): string | undefined {
  return accept !== undefined && Object.hasOwn(content, accept) ? accept : Object.keys(content)[0]
}

/** Returns an example as a handler gives it: what is not JSON as text or bytes. */
function bodyOf(response: Response, accept: string | undefined, value: unknown): ShownBody {
  const mediaType = mediaTypeOf(response, accept)
  if (mediaType === undefined) return { body: undefined }
  const contentType = concreteType(mediaType)
  const isNamed = contentType !== mediaType || Object.keys(response.content ?? {}).length > 1
  const body = shownAs[kindOf(contentType)](value)
  return isNamed ? { contentType, body } : { body }
}

const shownAs: Record<BodyKind, (value: unknown) => unknown> = {
  json: (value) => value,
  events: (data) => shownStream([{ data }]),
  lines: (value) => shownStream([value].flat()),
  text: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
  bytes: (value) => Buffer.from(typeof value === 'string' ? value : ''),
}

/** A stream as an example, whose items are known. */
export type ShownStream = AsyncIterable<unknown> & { items: unknown[] }

/** Returns an example of a stream with these items. */
export const shownStream = (items: unknown[]): ShownStream => ({
  items,
  async *[Symbol.asyncIterator]() {
    yield* items
  },
})

/** Returns whether an example is one of a stream. */
export const isShownStream = (body: unknown): body is ShownStream => isNode(body) && Symbol.asyncIterator in body

/** A media type of a range. */
const ofRanges: Record<string, string> = {
  '*/*': 'application/json',
  'application/*': 'application/json',
  'text/*': 'text/plain',
  'image/*': 'image/png',
}

/** Returns a media type of a range, or the media type itself. */
export const concreteType = (mediaType: string): string =>
  isRange(mediaType) ? (ofRanges[mediaType] ?? mediaType.replace(/\*.*/, 'x-example')) : mediaType

/** Returns the example of a name of a media type or a parameter, else the first, else one made of its schema. */
export function exampleOfContent(document: Document, content: WithExample, name?: string): unknown {
  const found = givenExample(document, content, name)
  return found === undefined ? exampleOf(document, content.schema ?? {}) : found
}

/** Returns the first example of what a request has, else one made of its schema. */
export function exampleOfRequest(document: Document, content: WithExample): unknown {
  const found = givenExample(document, content)
  return found === undefined ? filledExampleOf(document, content.schema ?? {}) : found
}

function givenExample(document: Document, { example, examples: given }: WithExample, name?: string): unknown {
  const examples: Record<string, Example> = Object(given)
  const chosen = name !== undefined && Object.hasOwn(examples, name) ? examples[name] : undefined
  const [first] = Object.values(examples)
  const named = chosen ?? (example === undefined ? first : undefined)
  return named === undefined ? example : (resolved(document, named) as Example).value
}

/** Returns whether a response has an example of this name. */
export const hasExample = ({ content = {} }: Response, name: string): boolean =>
  Object.values(content as Record<string, WithExample>)
    .slice(0, 1)
    .some(({ examples }) => Object.hasOwn(Object(examples), name))

function resolved(document: Document, node: unknown): Record<string, unknown> {
  const { $ref, ...rest } = (node ?? {}) as { $ref?: string }
  return $ref === undefined ? rest : { ...resolved(document, resolve(document, $ref)), ...rest }
}
