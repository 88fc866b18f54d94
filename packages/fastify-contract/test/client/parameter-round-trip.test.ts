import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { callStyles, type Document, type Parameter } from 'fastify-contract-cli/testing'
import { fixedSeed } from 'fastify-contract-test-support/fixed-seed'
import t, { type Test } from 'tap'
import { exactClient } from '../../src/client/exact-client.ts'
import { serveDocument } from '../support/serve-document.ts'

type Place = 'path' | 'query' | 'header'
type Way = { in: Place; style: string; explode: boolean }

const each = (place: Place, styles: string[], exploded = [false, true]): Way[] =>
  styles.flatMap((style) => exploded.map((explode) => ({ in: place, style, explode })))

/** The combinations that OpenAPI 3.1.1, section 4.8.12.6, defines for every kind of value. */
const usual = [
  ...each('path', ['simple', 'label', 'matrix']),
  ...each('query', ['form']),
  ...each('header', ['simple']),
]
const delimited = each('query', ['spaceDelimited', 'pipeDelimited'], [false])
const ways = {
  scalar: usual,
  array: [...usual, ...delimited],
  object: [...usual, ...delimited, ...each('query', ['deepObject'], [true])],
  nested: each('query', ['deepObject'], [true]),
}

const string = { type: 'string' }
const int64 = { type: 'integer', format: 'int64' }
const boolean = { type: 'boolean' }
const rows = {
  type: 'array',
  items: { type: 'object', properties: { i: int64, of: { type: 'array', items: string } } },
}
const either = { oneOf: [{ type: 'object', required: ['i'], properties: { i: int64 } }, string] }
const nested = {
  type: 'object',
  properties: { rows, either },
  additionalProperties: { type: 'object', additionalProperties: string },
}
const schemas = {
  nested: [nested, rows],
  scalar: [string, int64, boolean, { type: ['integer', 'null'], format: 'int64' }, { type: 'number' }],
  array: [string, int64, boolean].map((items) => ({ type: 'array', items })),
  object: [
    {
      type: 'object',
      properties: { i: int64, b: boolean, n: { type: ['integer', 'null'] } },
      additionalProperties: string,
    },
  ],
}

type Operation = { path: string; parameter: Parameter }

const described = (Object.keys(ways) as (keyof typeof ways)[]).flatMap((kind) =>
  ways[kind].flatMap((way) => schemas[kind].map((schema) => ({ ...way, schema }))),
)
const byContent = (['path', 'query', 'header'] as const).flatMap((place) => [
  { in: place, content: { 'application/json': { schema: { additionalProperties: int64 } } } },
  { in: place, content: { 'text/plain': { schema: string } } },
])
// The client writes each item of the list as JSON, and the object with names in brackets.
const inForm = [rows, nested].map((schema) => ({ in: 'query', style: 'form', explode: true, schema }) as const)
const operations: Operation[] = [...described, ...inForm, ...byContent].map((parameter, index) => ({
  path: parameter.in === 'path' ? `/${index}/{value}` : `/${index}`,
  parameter: { name: 'value', ...parameter, required: true },
}))

const responses = { 204: { description: 'Seen.' } }
const document: Document = {
  openapi: '3.1.0',
  info: { title: 'Ways', version: '1.0.0' },
  paths: Object.fromEntries(
    operations.map(({ path, parameter }, index) => [
      path,
      { get: { operationId: `read${index}`, parameters: [parameter], responses } },
    ]),
  ),
}

/** PROPERTY_RUNS=100000 tests more values of each parameter. */
const runs = Number(process.env.PROPERTY_RUNS ?? 15_000)

type Call = (path: string, options: { params: object }) => Promise<{ status: number; error?: unknown }>

/** Serves the document. Returns a function that sends a value over a socket and resolves to the value received. */
async function serve(t: Test) {
  let seen: unknown
  const read = async (request: Record<Place, { value: unknown }>) => {
    seen = [request.path, request.query, request.header].map(({ value }) => value).find((value) => value !== undefined)
    return { status: 204, body: undefined }
  }
  const handlers = Object.fromEntries(operations.map((_, index) => [`read${index}`, read]))
  const app = await serveDocument(document, { handlers: handlers as never })
  t.teardown(() => app.close())
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  const table = { parameters: callStyles(document) }
  const { GET } = exactClient<Record<string, never>>(table, { baseUrl }) as unknown as { GET: Call }
  return async ({ path, parameter }: Operation, value: unknown): Promise<unknown> => {
    seen = undefined
    const { status, error } = await GET(path, { params: { [parameter.in]: { value } } })
    return status === 204 ? seen : { status, error }
  }
}

const odd = ['__proto__', 'constructor', 'toString', '7', 'true', 'null', '%2C', 'a', 'é', '𝒳']
const pieces = [...odd, ',', ';', '=', '.', '|', ' ', '&', '+', '/', '?', '#', '[', ']', '"', "'", '\\', '~']
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((all) => all.join(''))
const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const named = fc.record({ i: long, b: fc.boolean(), n: fc.option(fc.integer()) }, { requiredKeys: [] })
const others = fc.dictionary(
  text.filter((name) => !['i', 'b', 'n'].includes(name)),
  text,
  { maxKeys: 3, noNullPrototype: true },
)

const someTexts = fc.array(text, { minLength: 1, maxLength: 3 })
const someRows = fc.array(fc.record({ i: long, of: someTexts }, { requiredKeys: ['i'], noNullPrototype: true }), {
  minLength: 1,
  maxLength: 3,
})
const plainName = text.filter((name) => !/[[\]]/.test(name))
const someNested = fc.record(
  {
    rows: someRows,
    either: fc.oneof(text, fc.record({ i: long }, { noNullPrototype: true })),
    other: fc.dictionary(plainName, text, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
  },
  { requiredKeys: ['either'], noNullPrototype: true },
)

/** Returns the values that a parameter may have. */
function valuesOf({ content, schema }: Parameter): fc.Arbitrary<unknown> {
  if (content !== undefined) {
    if ('text/plain' in content) return text
    return fc.oneof(
      text,
      fc.array(text),
      fc.dictionary(text, long, { noNullPrototype: true }),
      fc.constantFrom(null, true, 1.5),
    )
  }
  if (schema === nested) return someNested
  if (schema === rows) return someRows
  const { type, items } = schema as { type: string | string[]; items?: object }
  // An empty text is one empty string.
  const minLength = items === string ? 1 : 0
  if (type === 'array') return fc.array(valuesOf({ schema: items } as Parameter), { minLength, maxLength: 3 })
  if (type === 'object') {
    const both = fc
      .tuple(named, others)
      .map(([one, other]) => Object.fromEntries([...Object.entries(one), ...Object.entries(other)]))
    return both.filter((value) => Object.keys(value).length > 0)
  }
  const scalars = {
    string: text,
    integer: long,
    boolean: fc.boolean(),
    number: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  }
  return Array.isArray(type) ? fc.option(long) : scalars[type as keyof typeof scalars]
}

/** Returns whether a parameter cannot carry a part of its value. `isName` marks the name of a property. */
function isUnsendable(
  { in: place, style, explode, content, schema }: Parameter,
  part: string,
  isName = false,
): boolean {
  if (content !== undefined && 'application/json' in content) return false
  if (place === 'header' && (/[^ -ÿ]/.test(part) || part !== part.trim())) return true
  const isWhole = content !== undefined || !['array', 'object'].includes((schema as { type: string }).type)
  if (isWhole) return isRemoved({ in: place, style: style ?? 'simple' } as Parameter, part)
  if (style === 'spaceDelimited') return part.includes(' ')
  if (style === 'pipeDelimited') return part.includes('|')
  if (place === 'header') return part.includes(',') || (isName && explode === true && part.includes('='))
  return style === 'deepObject' && isName && /[[\]]/.test(part)
}

const asText = (value: unknown) => (value === null ? '' : String(value))

/** Returns whether a segment of a path is empty, or one that a URL parser removes: "." or "..". */
const isRemoved = ({ in: place, style }: Parameter, text: string): boolean =>
  place === 'path' && { simple: /^\.{0,2}$/, label: /^\.?$/ }[style as string]?.test(text) === true

function cannotBeSent(parameter: Parameter, value: unknown): boolean {
  if (parameter.schema === nested || parameter.schema === rows) return false
  if (typeof value !== 'object' || value === null) return isUnsendable(parameter, asText(value))
  const parts = Object.values(value).map(asText)
  const names = Array.isArray(value) ? [] : Object.keys(value)
  const isAlone =
    Array.isArray(value) &&
    isRemoved(parameter, parts.join(parameter.style === 'label' && parameter.explode ? '.' : ','))
  return (
    isAlone ||
    parts.some((part) => isUnsendable(parameter, part)) ||
    names.some((name) => isUnsendable(parameter, name, true))
  )
}

t.test('the client writes every value in every style as the service reads it', async (t) => {
  const send = await serve(t)
  for (const operation of operations) {
    const { parameter } = operation
    const { in: place, style = '', explode = '', schema, content } = parameter
    const isSame = async (value: unknown) => {
      const outcome = await send(operation, value).catch((error) => error)
      return cannotBeSent(parameter, value) ? outcome instanceof TypeError : isDeepStrictEqual(outcome, value)
    }
    await fc.assert(fc.asyncProperty(valuesOf(parameter), isSame), { ...fixedSeed, numRuns: Math.ceil(runs / 1_000) })
    t.pass(`${place} ${style} ${explode} ${JSON.stringify(schema ?? content)}`)
  }
})

const listOf = (items: object, more: object = {}) => ({ type: 'array', items, ...more })
const letters = { enum: ['a', 'b'] }

t.test('the client sends an empty list where the service reads an empty text as one', async (t) => {
  const parameters = [
    ...[{ type: 'number' }, boolean, letters, { type: 'string', format: 'uuid' }].map((items) => listOf(items)),
    listOf(int64, { default: [5] }),
    { anyOf: [listOf(int64), int64] },
  ].map((schema, index) => ({ name: `list${index}`, in: 'query', schema }) as const)
  const fields = { ids: listOf(int64), letters: listOf(letters), strings: listOf(string) }
  const form = {
    schema: { type: 'object', properties: fields },
    encoding: { letters: { style: 'pipeDelimited', explode: false } },
  }
  const others: Parameter[] = [
    { name: 'strings', in: 'query', schema: listOf(string) },
    { name: 'orNull', in: 'query', schema: listOf(int64, { type: ['array', 'null'] }) },
    { name: 'orText', in: 'query', schema: { anyOf: [listOf(int64), string] } },
  ]
  const requestBody = { content: { 'application/x-www-form-urlencoded': form } }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Empty lists', version: '1.0.0' },
    paths: { '/': { post: { operationId: 'read', parameters: [...parameters, ...others], requestBody, responses } } },
  } as unknown as Document
  const seen: unknown[] = []
  const read = async ({ query, body }: { query: object; body: object }) => {
    seen.push({ ...query }, { ...body })
    return { status: 204, body: undefined }
  }
  const app = await serveDocument(document, { handlers: { read } as never })
  t.teardown(() => app.close())
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  type Post = (path: string, options: object) => Promise<unknown>
  const client = exactClient<Record<string, never>>({ parameters: callStyles(document) }, { baseUrl })
  const { POST } = client as unknown as { POST: Post }
  const query = Object.fromEntries([...parameters, ...others].map(({ name }) => [name, []]))
  const contentType = 'application/x-www-form-urlencoded'
  await POST('/', { params: { query }, body: { ids: [], letters: [], strings: [] }, contentType })
  // A list that could not be distinguished from another value is left out.
  t.same(seen, [Object.fromEntries(parameters.map(({ name }) => [name, []])), { ids: [], letters: [] }])
})
