import { AsyncLocalStorage } from 'node:async_hooks'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { inspect } from 'node:util'
import fc from 'fast-check'
import type { Document } from 'fastify-contract-cli/testing'
import { fixedSeed } from 'fastify-contract-test-support/fixed-seed'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import t from 'tap'
import { ContractError } from '../../src/contract/errors.ts'
import type { Schema } from '../../src/contract/schema-keywords.ts'
import { newContext } from '../../src/http/request-context.ts'
import { errorWriter } from '../../src/response/error-writer.ts'
import { responseQueue } from '../../src/response/response-queue.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { createSerializer } from '../../src/schema/interpreted-serializer.ts'
import { createValidator } from '../../src/schema/validator.ts'
import { serveDocument } from '../support/serve-document.ts'

/** Counts of a loop that has many events in each turn. */
const busy = () => ({ loopCount: 1, events: 100 })

t.test('queued responses are sent in their order at the end of the turn', async (t) => {
  const sent: number[] = []
  const queue = responseQueue(busy)
  queue(() => sent.push(1))
  queue(() => sent.push(2))
  t.same(sent, [])
  await turn()
  t.same(sent, [1, 2])
  queue(() => sent.push(3))
  await turn()
  t.same(sent, [1, 2, 3])
})

t.test('64 queued responses are sent at once', async (t) => {
  const sent: number[] = []
  const queue = responseQueue(busy)
  for (let i = 0; i < 65; i++) queue(() => sent.push(i))
  t.equal(sent.length, 64)
  await turn()
  t.equal(sent.length, 65)
})

t.test('each response is sent in the async context of its request', async (t) => {
  const storage = new AsyncLocalStorage<number>()
  const seen: unknown[] = []
  const queue = responseQueue(busy)
  for (let i = 0; i < 65; i++) storage.run(i, queue, () => seen.push([i, storage.getStore()]))
  await turn()
  t.same(
    seen,
    Array.from({ length: 65 }, (_, i) => [i, i]),
  )
})

t.test('the first response of a turn is sent at once if each turn had at most one event', async (t) => {
  const sent: string[] = []
  let counts = { loopCount: 10, events: 10 }
  const queue = responseQueue(() => counts)
  queue(() => sent.push('first'))
  t.same(sent, ['first'])
  queue(() => sent.push('second of the turn'))
  t.same(sent, ['first'])
  await turn()
  counts = { loopCount: 12, events: 12 }
  queue(() => sent.push('third'))
  t.same(sent, ['first', 'second of the turn', 'third'])
  counts = { loopCount: 13, events: 14 }
  queue(() => sent.push('of a turn with two events'))
  t.equal(sent.length, 3)
  await turn()
  t.equal(sent.length, 4)
})

t.test('the counts of the event loop itself are known', async (t) => {
  const sent: number[] = []
  const queue = responseQueue()
  for (let i = 0; i < 3; i++) {
    queue(() => sent.push(i))
    await turn()
  }
  t.same(sent, [0, 1, 2])
})

const error = new ContractError('invalid', 'what is wrong')

/** Writes an error body of a media type. Returns the response, and whether the writer reported a failure. */
function written(contentType: string, body: unknown) {
  const reports: unknown[] = []
  const write = errorWriter(
    () => ({ contentType, body }),
    { invalid: 40003 },
    (thrown) => reports.push(thrown),
  )
  const { number, ...reply } = write(error, newContext('GET'))
  return { ...reply, isReported: reports.length === 1 && number === 40003 }
}

t.test('an error body is written as JSON or as text', async (t) => {
  const json = (text: string) => ({ contentType: 'application/json; charset=utf-8', text, isReported: false })
  t.same(written('application/json', { a: 1 }), json('{"a":1}'))
  t.same(written('application/json', { a: 9007199254740993n }), json('{"a":9007199254740993}'))
  t.same(written('application/json', null), json('null'))
  const text = (given: string) => ({ contentType: 'text/plain; charset=utf-8', text: given, isReported: false })
  for (const [body, sent] of [
    ['a', 'a'],
    ['', ''],
    [1, '1'],
    [1n, '1'],
    [true, 'true'],
  ] as const)
    t.same(written('text/plain', body), text(sent))
})

t.test('an error that the document does not number has its status times 100', async (t) => {
  const write = errorWriter(
    ({ error }) => ({ contentType: 'application/json', body: error }),
    {},
    () => {},
  )
  t.match(write(error, newContext('GET')), { number: 40000, text: '40000' })
})

t.test('an invalid error body is reported, and the error is sent as plain text', async (t) => {
  const plain = { contentType: 'text/plain; charset=utf-8', text: 'what is wrong', isReported: true }
  for (const body of [undefined, Symbol('a'), () => 1])
    for (const mediaType of ['application/json', 'text/plain'])
      t.same(written(mediaType, body), plain, `${String(body)} as ${mediaType}`)
  for (const body of [null, {}, new Uint8Array(1)]) t.same(written('text/plain', body), plain)
})

const text = { type: 'string' }
const document = {
  openapi: '3.1.0',
  info: { title: 'Headers', version: '1' },
  paths: {
    '/a': {
      get: {
        operationId: 'a',
        responses: {
          200: {
            headers: {
              'X-Total': { required: true, schema: { type: 'integer', format: 'int64' } },
              ETag: { schema: text },
              Vary: { schema: text },
            },
            content: { 'application/json': { schema: { type: 'integer' } } },
          },
          204: { headers: { 'X-Request-Id': { required: true, schema: text } } },
        },
      },
    },
  },
} as unknown as Document

const serve = (outcome: object, more: object = {}) =>
  serveDocument(document, { handlers: { a: async () => outcome as never }, ...more })

t.test('a missing, undeclared or invalid response header becomes a 500', async (t) => {
  const total = { 'X-Total': 1n }
  const wrong: Record<string, object> = {
    'a required header is missing': { headers: { ETag: 'a' } },
    'no headers': {},
    'another type': { headers: { 'X-Total': 'one' } },
    'no int64': { headers: { 'X-Total': 2n ** 63n } },
    'a header that is not declared': { headers: { ...total, 'X-Other': 'a' } },
    'a header of the service': { headers: { ...total, 'X-Request-Id': 'a' } },
    'an inherited header': { headers: Object.create(total) },
    'a line end in a header': { headers: { ...total, ETag: 'a\r\nX-Evil: b' } },
    'a wrong body beside right headers': { headers: { ...total, ETag: 'a' }, body: 'one' },
    'headers of a response without any': { status: 204, headers: {}, body: undefined },
  }
  for (const [name, outcome] of Object.entries(wrong)) {
    const app = await serve({ status: 200, body: 1, ...outcome })
    const { statusCode, headers, json } = await app.inject('/a')
    t.equal(statusCode, 500, name)
    t.match(json(), { error: 50000 })
    t.same([headers.etag, headers['x-total'], headers['x-evil']], [undefined, undefined, undefined], name)
  }
})

t.test('the Vary of CORS and of a handler are combined', async (t) => {
  const headers = { 'X-Total': 2n, Vary: 'Cookie', ETag: undefined }
  const app = await serve({ status: 200, headers, body: 1 }, { origins: ['https://app.example'] })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const answer = await httpRequest(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/a`)
  t.match(answer, { status: 200, headers: { vary: 'Origin, Cookie', 'x-total': '2' } })
  t.equal(answer.headers.etag, undefined)
})

const shortText = { type: 'string', maxLength: 2 }
const number = { schema: { type: 'integer' } }

const typedBodies = {
  openapi: '3.1.0',
  info: { title: 'Bodies', version: '1' },
  paths: {
    '/a': {
      get: {
        operationId: 'a',
        responses: {
          200: { content: { 'text/plain': { schema: shortText }, 'application/json': number } },
          201: { content: { 'text/plain': { schema: shortText } } },
          202: { content: { 'text/*': number } },
          203: { content: { '*/*': number } },
        },
      },
    },
  },
} as unknown as Document

const answer = async (outcome: object) => {
  const app = await serveDocument(typedBodies, { handlers: { a: (async () => outcome) as unknown as AnyHandler } })
  const { statusCode, body, headers } = await app.inject('/a')
  return [statusCode, statusCode === 500 ? JSON.parse(body).error : body, headers['content-type']]
}

t.test('a response body is written as its media type requires', async (t) => {
  const plain = 'text/plain; charset=utf-8'
  const json = 'application/json; charset=utf-8'
  t.same(await answer({ status: 200, contentType: 'text/plain', body: 'ab' }), [200, 'ab', plain])
  t.same(await answer({ status: 200, contentType: 'application/json', body: 7 }), [200, '7', json])
  t.same(await answer({ status: 201, contentType: 'text/plain', body: 'ab' }), [201, 'ab', plain])
  t.same(await answer({ status: 202, contentType: 'text/html', body: '<p>' }), [202, '<p>', 'text/html; charset=utf-8'])
  t.same(await answer({ status: 203, contentType: 'application/json', body: 7 }), [203, '7', json])
  t.same(await answer({ status: 203, contentType: 'application/json', body: Buffer.from('8') }), [203, '8', json])
})

t.test('a response body of the wrong type becomes a 500', async (t) => {
  const wrong = [
    { status: 200, body: 7 },
    { status: 200, contentType: 'text/csv', body: 'a' },
    { status: 200, contentType: 'text/plain', body: 'abc' },
    { status: 200, contentType: 'text/plain', body: 7 },
    { status: 200, contentType: 'application/json', body: 'a' },
    { status: 200, contentType: 'application/json', body: Buffer.from('7') },
    { status: 200, contentType: 'application/json', body: Readable.from(['7']) },
    { status: 201, contentType: 'text/html', body: 'a' },
    { status: 202, body: 'a' },
    { status: 202, contentType: 'image/png', body: 'a' },
    { status: 202, contentType: 'text/', body: 'a' },
    { status: 202, contentType: 'text/*', body: 'a' },
    { status: 203, contentType: 'text/plain;a=b\r\nX-Evil: c', body: 'a' },
    { status: 203, contentType: 'application/json', body: 'a' },
    { status: 203, contentType: 'image/png', body: 7 },
  ]
  for (const outcome of wrong) t.match(await answer(outcome), [500, 50000], inspect(outcome, { depth: 0 }))
})

/** PROPERTY_RUNS=100000 tests more pairs of a schema and a valid value. */
const pairs = Number(process.env.PROPERTY_RUNS ?? 2_000)

const names = ['a', 'b', 'c', 'x-d']
const name = fc.constantFrom(...names)
const nameList = fc.uniqueArray(name, { minLength: 1, maxLength: 2 })
const mapOf = <T>(values: fc.Arbitrary<T>) =>
  fc.dictionary(name, values, { minKeys: 1, maxKeys: 2, noNullPrototype: true })

const { value } = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(null, 1, 'a'),
    tie('object'),
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  object: fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}))

const { schema } = fc.letrec<{ schema: Schema; keywords: Schema }>((tie) => {
  const one = tie('schema')
  const some = fc.array(one, { minLength: 1, maxLength: 2 })
  const objects = { properties: mapOf(one), required: nameList, additionalProperties: one }
  const rare = {
    type: fc.constantFrom('object', 'array', ['object', 'null']),
    allOf: some,
    anyOf: some,
    oneOf: some,
    not: one,
    if: one,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: one,
    else: one,
    $ref: fc.constantFrom('Node#', 'Pair#', 'Union#'),
    minProperties: fc.constantFrom(1, 2),
    maxProperties: fc.constantFrom(1, 2),
    patternProperties: fc.record({ '^x-': one }),
    propertyNames: fc.constant({ pattern: '^[ab]' }),
    dependentRequired: mapOf(nameList),
    dependentSchemas: mapOf(one),
    unevaluatedProperties: one,
    const: value,
    enum: fc.array(value, { minLength: 1, maxLength: 2 }),
    items: one,
    prefixItems: some,
    contains: one,
    uniqueItems: fc.constant(true),
    unevaluatedItems: one,
  }
  const entries = Object.entries(rare).map(([keyword, of]) => of.map((value) => ({ [keyword]: value })))
  const extra = fc.array(fc.oneof(...entries), { maxLength: 2 }).map((all) => Object.assign({}, ...all))
  const listed = fc.record(objects, { requiredKeys: [] })
  return {
    schema: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom<Schema>(true, {}),
      tie('keywords'),
      tie('keywords'),
    ),
    keywords: fc.tuple(listed, extra).map(([object, rest]) => ({ ...object, ...rest })) as fc.Arbitrary<Schema>,
  }
})

const shared: Record<string, Schema> = {
  Node: { type: 'object', properties: { a: { $ref: 'Node#' }, b: true } },
  Pair: { allOf: [{ $ref: 'Node#' }, { properties: { c: { $ref: 'Union#' } } }] },
  Union: { anyOf: [{ $ref: 'Node#' }, { type: 'null' }] },
}

/** Throws unless `sent` is `given` without some members of objects. */
function assertPart(sent: unknown, given: unknown): void {
  if (typeof given !== 'object' || given === null) {
    if (sent !== given) throw new Error(`${JSON.stringify(given)} was sent as ${JSON.stringify(sent)}`)
    return
  }
  const [own, all] = [Object.entries(sent as object), given as Record<string, unknown>]
  if (Array.isArray(given) && own.length !== given.length) throw new Error('an item was not sent')
  for (const [key, member] of own) assertPart(member, all[key])
}

/** Keywords that may depend on any member of a value. */
const dependent = [
  'not',
  'if',
  'minProperties',
  'dependentRequired',
  'dependentSchemas',
  'const',
  'enum',
  'uniqueItems',
]

/** Throws unless the members that the root of a schema says are sent, where it is simple enough to say so. */
function assertRule(schema: object, sent: unknown, given: unknown): void {
  const keywords = Object.keys(schema)
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (
    keywords.some((keyword) => dependent.includes(keyword)) ||
    !/"(properties|patternProperties|\$ref)":/.test(JSON.stringify(schema))
  ) {
    if (JSON.stringify(sent) !== JSON.stringify(given)) throw new Error('a member is missing')
  } else if (isObject && keywords.every((keyword) => keyword === 'properties' || keyword === 'type')) {
    const { properties } = schema as { properties: object }
    const listed = Object.keys(properties).filter((name) => Object.hasOwn(given, name))
    if (Object.keys(sent as object).join() !== listed.join()) throw new Error('other members than the listed ones')
  }
}

t.test('a response that is valid is sent valid, and loses only members that its schema does not list', async (t) => {
  let validator = createValidator(shared)
  let schemas = 0
  let valid = 0
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 30, maxLength: 30 }), (schema, values) => {
      const rooted = typeof schema === 'object' ? schema : {}
      // Ajv keeps each compiled schema.
      if (++schemas % 500 === 0) validator = createValidator(shared)
      const assertValid = validator.response(rooted)
      const serialize = createSerializer(shared, rooted)
      for (const value of values) {
        try {
          assertValid(value)
        } catch {
          continue
        }
        valid++
        const sent: unknown = JSON.parse(serialize(value))
        assertValid(sent)
        assertPart(sent, value)
        assertRule(rooted, sent, value)
      }
    }),
    { ...fixedSeed, numRuns: Math.ceil(pairs / 10), interruptAfterTimeLimit: 600_000 },
  )
  t.comment(`${valid} pairs of a schema and a valid value`)
  t.ok(valid >= pairs)
})
