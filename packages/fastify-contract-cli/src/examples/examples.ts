import {
  type HandlerResponse,
  isRange,
  kindOf,
  type MediaKind,
  needsBoundary,
  type Schema,
  schemaKeywords,
  schemasIn,
} from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { isIgnored } from 'fastify-contract/schema'
import { headersOf, isGiven } from '../document/contents.ts'
import { resolve } from '../document/json-pointer.ts'
import type { Document, Endpoint, Located, Response } from '../document/openapi-document.ts'
import type { Example, WithExample } from '../document/parameter-objects.ts'
import {
  commonTypes,
  isInt64,
  memberSchemas,
  numbersOf,
  type Part,
  partsOf,
  reachability,
  referencesOf,
  schemasOfParts,
} from '../document/schemas.ts'
import { isNode, type Node } from '../document/walk-document.ts'
import { conditionalSchemas, demandedNames } from './example-conditions.ts'
import { exampleItems, together } from './example-items.ts'
import { multipartBody } from './example-parts.ts'
import { exampleNumber, exampleText, otherNames } from './example-scalars.ts'

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

function originInSchema(document: Document, schema: Schema): ExampleOrigin | undefined {
  const hasExample = (one: Node) => one.example !== undefined || one.examples !== undefined
  if (partsOf(document, schema).some((part) => hasExample(part.schema))) return 'whole'
  return reachability(document, Object.keys(schemaKeywords), hasExample)(schema) ? 'parts' : undefined
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
  return found === undefined ? filledExampleOf(document, content.schema ?? {}) : found
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

/** Keywords whose value is an example, in order of preference. */
const exampleKeywords = ['const', 'example', 'examples', 'default', 'enum']

/**
 * The state of building an example. `within` are the references that lead to the current schema, and `keywords` are the
 * keywords whose values are used. Depth and budget bound it: the examples of recursive schemas have no natural size.
 */
type Progress = Making & { within: Set<string>; depth: number; budget: { left: number } }

/**
 * What is made: `variant` numbers the values of one schema, which differ if possible. A minimal value has required
 * properties only.
 */
type Making = { keywords: string[]; isFilled: boolean; variant: number; isMinimal: boolean }

/** The maximum number of values of one example, and how many are reserved for required properties. */
const maxValues = 1000
const reserved = 500
/** From this depth on, an example has required properties only. */
const optionalDepth = 4

/**
 * Returns an example value of a schema: its own example, or one built from the examples of its parts, or else from its
 * keywords. Returns undefined for a schema that contains itself or allows nothing, so that the property is omitted. The
 * value usually satisfies the schema, but this is not guaranteed.
 */
export const exampleOf = (document: Document, schema: Schema): unknown => make(document, schema, exampleKeywords)

/** Returns an example value for a request: like `exampleOf`, but generated strings and maps are not empty if possible. */
export const filledExampleOf = (document: Document, schema: Schema): unknown =>
  make(document, schema, exampleKeywords, { isFilled: true })

/** How values are made without examples, in case the ones before break a keyword that the maker does not know. */
const generated: Partial<Making>[] = [{}, { isMinimal: true }, { variant: 1 }, { variant: 2, isMinimal: true }]

/** How many values `generatedValue` makes of one schema. */
export const generatedCount = generated.length

/** Returns a value that is built from the keywords of a schema alone, without its examples. */
export const generatedValue = (document: Document, schema: Schema, index = 0): unknown =>
  make(document, schema, ['const', 'enum'], generated[index])

const make = (document: Document, schema: Schema, keywords: string[], making: Partial<Making> = {}): unknown => {
  const start = { within: new Set<string>(), depth: 0, budget: { left: maxValues } }
  return makeValue(document, schema, { ...start, isFilled: false, variant: 0, isMinimal: false, keywords, ...making })
}

/**
 * Returns the schema's own example, or else an object with examples of its members, or else the example of a part, or
 * else the first alternative that has a value, or else an array or a scalar that is built from the keywords.
 */
function makeValue(document: Document, schema: Schema, progress: Progress): unknown {
  const parts = partsOf(document, schema)
  const isWithin = parts.some(({ reference }) => reference !== undefined && progress.within.has(reference))
  if (parts.some((part) => isIgnored(part.schema))) return undefined
  // An array that contains itself ends with an empty one, which a required property needs.
  if (isWithin && progress.depth > 1 && isEmptyList(parts)) return []
  if (schema === false || isWithin || progress.budget.left <= 0) return undefined
  progress.budget.left--
  const own = givenIn(
    parts.filter(({ isOwn }) => isOwn),
    progress,
  )
  if (own !== undefined) return own.value
  const schemas = schemasOfParts(parts)
  const chosen = chosenAlternatives(document, parts, progress)
  // No alternative has a value, so the schema has none.
  if (chosen.length === 0 && schemas.some(hasAlternatives) && !schemas.some(isObjectSchema)) return undefined
  const given = givenIn(parts, progress) ?? (chosen.length > 0 ? { value: chosen[0] } : undefined)
  const isOpen = given === undefined || isObject(given.value) || schemas.some(isObjectSchema)
  const type = commonTypes(schemas)?.[0] ?? (isOpen ? 'object' : 'null')
  if (type === 'object') {
    const value = Object(objectOf(document, parts, chosen, progress))
    const more = conditionalSchemas(schemas, value).map((one) => makeValue(document, one, progress))
    return more.includes(undefined) ? undefined : Object.fromEntries([value, ...more].flatMap(Object.entries))
  }
  if (given !== undefined) return given.value
  return type === 'array' ? itemsOf(document, parts, progress) : scalarOf(schemas, type, progress)
}

function isEmptyList(parts: Part[]): boolean {
  const schemas = schemasOfParts(parts)
  return commonTypes(schemas)?.join() === 'array' && numbersOf(schemas, 'minItems').every((least) => least === 0)
}

const scalars: Record<string, (schemas: Node[], progress: Progress) => unknown> = {
  string: (schemas, { isFilled, variant }) =>
    (isFilled && exampleText([...schemas, { minLength: 1 }], variant)) || exampleText(schemas, variant),
  integer: (schemas, { variant }) => exampleNumber(schemas, true, variant),
  number: (schemas, { variant }) => exampleNumber(schemas, false, variant),
  boolean: (_schemas, { variant }) => variant % 2 === 1,
}

const scalarOf = (schemas: Node[], type: string, progress: Progress): unknown =>
  Object.hasOwn(scalars, type) ? scalars[type]?.(schemas, progress) : null

function givenIn(parts: Part[], { keywords, variant }: Progress): { value: unknown } | undefined {
  // Each part of an `allOf` may have an `enum`: a child's discriminator allows fewer values than its parent's.
  const isInEach = (value: unknown) =>
    parts.every(({ schema }) => schema.enum === undefined || ([schema.enum].flat() as unknown[]).includes(value))
  for (const keyword of keywords) {
    for (const { schema } of parts) {
      if (!Object.hasOwn(schema, keyword)) continue
      const isList = keyword === 'examples' || keyword === 'enum'
      const values = isList ? [schema[keyword]].flat() : [schema[keyword]]
      // Only one variant can have a single example.
      if (!isList && keyword !== 'const' && variant > 0) continue
      const fitting = keyword === 'enum' ? values.filter(isInEach) : values
      const value = fitting.length > 0 ? fitting[variant % fitting.length] : values[0]
      if (value !== undefined) return { value }
    }
  }
  return undefined
}

const hasAlternatives = ({ oneOf, anyOf }: Node): boolean => oneOf !== undefined || anyOf !== undefined

/** Returns, for each schema with alternatives, a value of the first alternative that has one. */
function chosenAlternatives(document: Document, parts: Part[], progress: Progress): unknown[] {
  const values: unknown[] = []
  // The references of a part lead through all of its holders, so only a part that needs them pays for them.
  for (const part of parts.filter(({ schema }) => hasAlternatives(schema))) {
    const inside = { ...progress, within: new Set([...progress.within, ...referencesOf([part])]) }
    for (const one of [...schemasIn(part.schema, 'oneOf'), ...schemasIn(part.schema, 'anyOf')]) {
      const value = makeValue(document, one, inside)
      if (value === undefined) continue
      values.push(value)
      break
    }
  }
  return values
}

function itemsOf(document: Document, parts: Part[], progress: Progress): unknown[] {
  const inside = below(progress, parts)
  const schemas = schemasOfParts(parts)
  return exampleItems(schemas, (schema, variant) =>
    makeValue(document, schema, { ...inside, variant: variant + inside.variant }),
  )
}

const isObjectSchema = ({ type, properties, required }: Node): boolean =>
  [type].flat().includes('object') || properties !== undefined || required !== undefined

const isObject = (value: unknown): boolean => Object(value) === value && !Array.isArray(value)

/** Returns an object with the members of examples and alternatives, and others as far as they fit or are required. */
function objectOf(document: Document, parts: Part[], chosen: unknown[], progress: Progress): unknown {
  const examples = parts.filter(({ isOwn }) => !isOwn).map((part) => givenIn([part], progress)?.value)
  const members = new Map<string, unknown>(
    [...examples, ...chosen].filter(isObject).flatMap((value) => Object.entries(value as object)),
  )
  const schemaOf = (name: string) => together(parts.flatMap(({ schema }) => memberSchemas(schema, name)))
  const add = (name: string): void => {
    const holders = parts.filter(({ schema }) => memberSchemas(schema, name).length > 0)
    const value = makeValue(document, schemaOf(name), below(progress, holders))
    if (value !== undefined) members.set(name, value)
  }
  const isFixed = (name: string) =>
    partsOf(document, schemaOf(name)).some(({ schema }) => schema.enum !== undefined || schema.const !== undefined)
  const schemas = schemasOfParts(parts)
  const described = schemas.flatMap((schema) => Object.keys(Object(schema.properties)))
  const required = new Set(schemas.flatMap((schema) => (schema.required ?? []) as string[]))
  for (const name of new Set([...required, ...described])) {
    const includesOptional = !progress.isMinimal && progress.depth < optionalDepth && progress.budget.left > reserved
    if (progress.budget.left <= 0 || (!required.has(name) && !includesOptional)) continue
    if (!members.has(name) || isFixed(name)) add(name)
  }
  for (const name of demandedNames(schemas, members)) if (!members.has(name)) add(name)
  const isFilledMap = progress.isFilled && schemas.some(({ additionalProperties }) => isObject(additionalProperties))
  const least = Math.max(isFilledMap ? 1 : 0, ...numbersOf(schemas, 'minProperties'))
  for (const name of members.size < least ? otherNames(schemas) : []) {
    if (!members.has(name)) add(name)
    if (members.size >= least) break
  }
  return Object.fromEntries(members)
}

const below = ({ within, depth, ...more }: Progress, parts: Part[]): Progress => ({
  within: new Set([...within, ...referencesOf(parts)]),
  depth: depth + 1,
  ...more,
})
