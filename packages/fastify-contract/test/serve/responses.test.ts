import { AsyncLocalStorage } from 'node:async_hooks'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { httpRequest } from '../../../../test/support/http-request.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { ContractError } from '../../src/http/errors.ts'
import { newContext } from '../../src/http/request-context.ts'
import { errorWriter } from '../../src/serve/error-writer.ts'
import { responseQueue } from '../../src/serve/response-queue.ts'
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
  ] as const) {
    t.same(written('text/plain', body), text(sent))
  }
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
  for (const body of [undefined, Symbol('a'), () => 1]) {
    for (const mediaType of ['application/json', 'text/plain']) {
      t.same(written(mediaType, body), plain, `${String(body)} as ${mediaType}`)
    }
  }
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
