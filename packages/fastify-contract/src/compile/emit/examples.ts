import { type BodyKind, isRange, kindOf } from '../../serve/media-types.ts'
import type { Outcome } from '../../serve/send-response.ts'
import { headersOf, isGiven } from '../document/contents.ts'
import { resolve } from '../document/json-pointer.ts'
import type { Document, Endpoint, Located, Response } from '../document/openapi-document.ts'
import type { Example, WithExample } from '../document/parameter-objects.ts'
import { partsOf } from '../document/schema-parts.ts'
import { isInt64 } from '../document/schemas.ts'
import { isNode } from '../document/walk-document.ts'

import { exampleOf, filledExampleOf, generatedValue } from './example-values.ts'

/**
 * Returns the example response of a successful call: the first 2xx response, or else the first response of all. The
 * body has the media type `accept` if the response declares it, or else its first media type.
 */
export function exampleResponse(document: Document, endpoint: Endpoint, accept?: string): Outcome {
  const { status, response } = successOf(endpoint)
  return { status, ...exampleHeaders(document, response), ...exampleBody(document, response, { accept }) }
}

/**
 * Returns the response of `exampleResponse` with two other bodies, in case its example breaks the schema: one built
 * from the examples of the schema, and one built without them.
 */
export function generatedResponses(document: Document, endpoint: Endpoint): Outcome[] {
  const { status, response } = successOf(endpoint)
  return Object.entries(response.content ?? {})
    .slice(0, 1)
    .flatMap(([, { schema = {} }]) => [exampleOf(document, schema), generatedValue(document, schema)])
    .map((value) => ({ status, ...exampleHeaders(document, response), ...bodyOf(response, undefined, value) }))
}

/** Returns the first 2xx response, or else the first one. The generator rejects operations without a response. */
function successOf({ responses }: Endpoint): { status: number; response: Located<Response> } {
  const statuses = Object.keys(responses)
  const status = (statuses.find((each) => each.startsWith('2')) ?? statuses[0]) as string
  return {
    status: Number(status.replace('XX', '00').replace('default', '200')),
    response: responses[status] as Located<Response>,
  }
}

/** Returns examples of the headers that a handler sets, each int64 as a bigint; an empty object if it sets none. */
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
 * Returns the example body of a response: the example called `name`, or else the first one; undefined without content.
 * Its media type is `accept` if the response declares it, or else the first one.
 */
export function exampleBody(document: Document, response: Response, { name, accept }: Choice = {}): ShownBody {
  const media = response.content?.[mediaTypeOf(response, accept) ?? '']
  return bodyOf(response, accept, media && exampleOfContent(document, media as WithExample, name))
}

type ShownBody = Pick<Outcome, 'contentType' | 'body'>

function mediaTypeOf({ content = {} }: Response, accept: string | undefined): string | undefined {
  return accept !== undefined && Object.hasOwn(content, accept) ? accept : Object.keys(content)[0]
}

/** Returns an example as a handler returns it: a JSON value unchanged, others as text, bytes or a stream. */
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

/** An example of a stream, whose items are known. */
type ShownStream = AsyncIterable<unknown> & { items: unknown[] }

/** Returns a stream that yields these items. */
export const shownStream = (items: unknown[]): ShownStream => ({
  items,
  async *[Symbol.asyncIterator]() {
    yield* items
  },
})

/** Returns whether an example body is a stream. */
export const isShownStream = (body: unknown): body is ShownStream => isNode(body) && Symbol.asyncIterator in body

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
  return found === undefined ? filledExampleOf(document, content.schema ?? {}) : found
}

function givenExample(document: Document, { example, examples: given }: WithExample, name?: string): unknown {
  const examples: Record<string, Example> = Object(given)
  const chosen = name !== undefined && Object.hasOwn(examples, name) ? examples[name] : undefined
  const [first] = Object.values(examples)
  const named = chosen ?? (example === undefined ? first : undefined)
  return named === undefined ? example : (resolved(document, named) as Example).value
}

/** Returns whether the first media type of a response has an example called `name`. */
export const hasExample = ({ content = {} }: Response, name: string): boolean =>
  Object.values(content as Record<string, WithExample>)
    .slice(0, 1)
    .some(({ examples }) => Object.hasOwn(Object(examples), name))

function resolved(document: Document, node: unknown): Record<string, unknown> {
  const { $ref, ...rest } = (node ?? {}) as { $ref?: string }
  return $ref === undefined ? rest : { ...resolved(document, resolve(document, $ref)), ...rest }
}
