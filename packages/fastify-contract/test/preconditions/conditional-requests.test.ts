import type { AddressInfo } from 'node:net'
import type { Document } from 'fastify-contract-cli/testing'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import t, { type Test } from 'tap'
import type { Operation } from '../../src/contract/routes.ts'
import { httpDate } from '../../src/preconditions/http-dates.ts'
import type { Preconditions } from '../../src/preconditions/precondition-check.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { compileRoutes, serveDocument } from '../support/serve-document.ts'

const text = { schema: { type: 'string' } }
const json = { 'application/json': { schema: { type: 'string' } } }
const failure = {
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['error', 'message'],
        properties: { error: { type: 'integer' }, message: { type: 'string' } },
      },
    },
  },
}
const cached = ['Cache-Control', 'Content-Location', 'ETag', 'Expires', 'Vary', 'Last-Modified', 'X-Kept', 'X-Left']
const headers = Object.fromEntries(cached.map((name) => [name, text]))
const read = (operationId: string, content: object, more: object = {}) => ({
  operationId,
  responses: { 200: { headers, content }, 304: { headers: { 'X-Kept': text } }, 412: failure, default: failure },
  ...more,
})
const write = (operationId: string, more: object = {}) => ({
  operationId,
  requestBody: { content: json },
  responses: {
    204: { headers: { ETag: text } },
    412: { ...failure, headers: { ETag: text } },
    default: failure,
    ...more,
  },
})

const document = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  paths: {
    '/note': {
      get: read('getNote', json),
      put: write('putNote', { 404: failure }),
      delete: { operationId: 'deleteNote', responses: { 204: {}, default: failure } },
    },
    '/strict': { put: write('putStrict', { 428: failure }) },
    '/stream': { get: read('getStream', { 'application/octet-stream': {} }) },
    '/digest': { get: read('getDigest', json, { 'x-etag': 'body' }) },
    '/listed': { get: { operationId: 'getListed', responses: { 200: { headers, content: json }, 304: {} } } },
    '/plain': { get: { operationId: 'getPlain', responses: { 200: { headers, content: json }, default: failure } } },
  },
} as unknown as Document

const changed = new Date(Date.UTC(2026, 0, 1))
const date = httpDate(changed)
const before = httpDate(new Date(changed.getTime() - 1_000))

type Given = { preconditions: Preconditions; body: string }

/** Serves the document. The state of the note is its tag; a handler may be replaced. */
async function serve(t: Test, more: Record<string, unknown> = {}) {
  const note = { etag: '"v1"' as '"v1"' | undefined, writes: 0, closed: 0 }
  const own = {
    'Cache-Control': 'max-age=60',
    'Content-Location': '/note',
    Expires: date,
    Vary: 'Accept',
    'Last-Modified': date,
    'X-Kept': 'a',
    'X-Left': 'b',
  }
  const getNote = async () =>
    note.etag === undefined
      ? { status: 404, body: { error: 40400, message: 'no note' } }
      : { status: 200, headers: { ...own, ETag: note.etag }, body: 'text' }
  const putNote = async ({ preconditions }: Given) => {
    const current = note.etag === undefined ? undefined : { etag: note.etag, lastModified: changed }
    const checked = preconditions.check(current)
    note.writes++
    return { status: 204, checked, headers: { ETag: '"v2"' }, body: undefined }
  }
  async function* bytes() {
    try {
      yield Buffer.from('text')
    } finally {
      note.closed++
    }
  }
  const stream = async () => {
    const body = bytes()
    const close = body.return.bind(body)
    body.return = (value) => {
      note.closed++
      return close(value)
    }
    return { status: 200, headers: { ETag: note.etag }, body }
  }
  const app = await serveDocument(document, {
    handlers: {
      getNote,
      putNote,
      putStrict: putNote,
      deleteNote: async () => ({ status: 204, body: undefined }),
      getStream: stream,
      getDigest: async () => ({ status: 200, headers: { Vary: 'Accept' }, body: 'text' }),
      getListed: getNote,
      getPlain: getNote,
      ...more,
    } as unknown as Record<string, AnyHandler>,
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { note, port }
}

type Seen = { status: number; headers: Record<string, string>; body: string }

/** Sends requests on one connection, one after the other, and returns their responses. The last one closes it. */
async function send(t: Test, port: number, requests: [target: string, fields?: string[]][]): Promise<Seen[]> {
  const heads = requests.map(([target, fields = []], index) => {
    const closes = index === requests.length - 1 ? ['Connection: close'] : []
    return [`${target} HTTP/1.1`, 'Host: a', ...fields, ...closes, '', ''].join('\r\n')
  })
  const socket = await openSocket(t, port, Buffer.from(heads.join(''), 'latin1'))
  let left = await socket.closed()
  return requests.map(function nextResponse([target]) {
    const end = left.indexOf('\r\n\r\n')
    const [line = '', ...fields] = left.slice(0, end).split('\r\n')
    const found = Object.fromEntries(
      fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 2)]),
    )
    const status = Number(line.split(' ')[1])
    const hasBody = !target.startsWith('HEAD') && status !== 304 && status !== 204
    const rest = left.slice(end + 4)
    const size = hasBody ? Number(found['content-length'] ?? rest.length) : 0
    left = rest.slice(size)
    return { status, headers: found, body: rest.slice(0, size) }
  })
}

const statuses = async (t: Test, port: number, requests: [string, string[]?][]) =>
  (await send(t, port, requests)).map(({ status }) => status)

t.test('a GET and a HEAD with a current tag or date get 304, others the whole response', async (t) => {
  const { port } = await serve(t)
  for (const [fields, expected] of [
    [[], 200],
    [['If-None-Match: "v1"'], 304],
    [['If-None-Match: W/"v1"'], 304],
    [['If-None-Match: "v0", "v1"'], 304],
    [['If-None-Match: "v0"', 'If-None-Match: "v1"'], 304],
    [['If-None-Match: *'], 304],
    [['If-None-Match: "v0"'], 200],
    [['If-None-Match: v1'], 200],
    [['If-None-Match: "v0"', `If-Modified-Since: ${date}`], 200],
    [[`If-Modified-Since: ${date}`], 304],
    [[`If-Modified-Since: ${before}`], 200],
    [[`If-Modified-Since: ${date}`, `If-Modified-Since: ${date}`], 200],
    [['If-Modified-Since: 2026-01-01'], 200],
    [['If-Match: "v1"'], 200],
    [['If-Match: "v0"'], 412],
    [['If-Match: W/"v1"'], 412],
    [['If-Match: "v1"', 'If-None-Match: "v1"'], 304],
    [['If-Match: "v0"', 'If-None-Match: "v1"'], 412],
    [['If-Match: v1'], 400],
    [[`If-Unmodified-Since: ${date}`], 200],
    [[`If-Unmodified-Since: ${before}`], 412],
    [['If-Match: "v1"', `If-Unmodified-Since: ${before}`], 200],
    [['If-None-Match: "v1"', 'Range: bytes=0-1', 'If-Range: "v0"'], 304],
  ] as [string[], number][])
    t.same(
      await statuses(t, port, [
        ['GET /note', fields],
        ['HEAD /note', fields],
      ]),
      [expected, expected],
      fields.join('; '),
    )
})

t.test('a 304 has no body, the headers for caches and those that the document declares for it', async (t) => {
  const { port } = await serve(t)
  for (const method of ['GET', 'HEAD']) {
    const [seen, next] = await send(t, port, [[`${method} /note`, ['If-None-Match: "v1"']], ['GET /note']])
    const { 'x-request-id': _, date: sent, ...rest } = seen?.headers ?? {}
    t.equal(seen?.status, 304)
    t.match(sent, / GMT$/)
    t.same(rest, {
      'cache-control': 'max-age=60',
      'content-location': '/note',
      etag: '"v1"',
      expires: date,
      vary: 'Accept',
      'x-kept': 'a',
      ...(rest.connection !== undefined && { connection: rest.connection, 'keep-alive': rest['keep-alive'] }),
    })
    // The connection is kept, and the next response begins right after the head.
    t.match(next, { status: 200, body: '"text"', headers: { 'last-modified': date, 'x-left': 'b' } })
  }
})

t.test('a 304 has Last-Modified if the response has no tag', async (t) => {
  const getNote = async () => ({ status: 200, headers: { 'Last-Modified': date }, body: 'text' })
  const { port } = await serve(t, { getNote })
  const [seen] = await send(t, port, [['GET /note', [`If-Modified-Since: ${date}`]]])
  t.match(seen, { status: 304, headers: { 'last-modified': date } })
})

t.test('an operation that does not list 412 ignores If-Match', async (t) => {
  const { port } = await serve(t)
  t.same(
    await statuses(t, port, [
      ['GET /listed', ['If-Match: "v0"']],
      ['GET /listed', ['If-None-Match: "v1"', 'If-Match: v0']],
    ]),
    [200, 304],
  )
})

t.test('an operation that lists neither status ignores preconditions', async (t) => {
  const { port, note } = await serve(t)
  t.same(
    await statuses(t, port, [
      ['GET /plain', ['If-None-Match: "v1"', 'If-Match: v0']],
      ['DELETE /note', ['If-Match: "v0"']],
    ]),
    [200, 204],
  )
  note.etag = undefined
})

t.test('preconditions are ignored if the response would not be a 2xx without them', async (t) => {
  const { port, note } = await serve(t)
  note.etag = undefined
  t.same(
    await statuses(t, port, [
      ['GET /note', ['If-Match: "v0"']],
      ['GET /note', ['If-None-Match: *']],
    ]),
    [404, 404],
  )
})

t.test('a write with a stale precondition gets 412 in the shape of the document, and changes nothing', async (t) => {
  const { port, note } = await serve(t)
  for (const [fields, expected] of [
    [[], 204],
    [['If-Match: "v1"'], 204],
    [['If-Match: "v0", "v1"'], 204],
    [['If-Match: *'], 204],
    [['If-Match: "v0"'], 412],
    [['If-Match: W/"v1"'], 412],
    [['If-Match:'], 412],
    [['If-None-Match: *'], 412],
    [['If-None-Match: "v1"'], 412],
    [['If-None-Match: W/"v1"'], 412],
    [['If-None-Match: "v0"'], 204],
    [['If-Match: v1'], 400],
    [['If-None-Match: v1'], 400],
    [[`If-Match: ${'"v1", '.repeat(300)}"v1"`], 400],
    // The document declares no Last-Modified, so the resource has no known date.
    [[`If-Unmodified-Since: ${before}`], 204],
    [[`If-Modified-Since: ${date}`], 204],
  ] as [string[], number][]) {
    note.writes = 0
    const [seen] = await send(t, port, [['PUT /note', fields]])
    t.equal(seen?.status, expected, fields.join('; '))
    t.equal(note.writes, expected === 204 ? 1 : 0)
    if (expected === 412)
      t.match(seen, { headers: { etag: '"v1"' }, body: /^\{"error":41200,"message":"the resource / })
  }
})

t.test('a write of a resource that does not exist gets through with If-None-Match: * only', async (t) => {
  const { port, note } = await serve(t)
  note.etag = undefined
  t.same(
    await statuses(t, port, [
      ['PUT /note', ['If-None-Match: *']],
      ['PUT /note', ['If-Match: *']],
      ['PUT /note', ['If-Match: "v1"']],
    ]),
    [204, 412, 412],
  )
})

t.test('a write without a precondition gets 428 if the document lists it', async (t) => {
  const { port, note } = await serve(t)
  const [seen, ...more] = await send(t, port, [
    ['PUT /strict'],
    ['PUT /strict', [`If-Unmodified-Since: ${date}`]],
    ['PUT /strict', ['If-Match: "v1"']],
    ['PUT /strict', ['If-None-Match: *']],
  ])
  t.match(seen, { status: 428, body: '{"error":42800,"message":"the request must have If-Match or If-None-Match"}' })
  t.same(
    more.map(({ status }) => status),
    [428, 204, 412],
  )
  t.equal(note.writes, 1)
})

t.test('a 2xx of a write that was not checked becomes a 500', async (t) => {
  const forged = { 'the result of preconditions.check': true }
  const earlier: unknown[] = []
  for (const checkedBy of [
    () => undefined,
    () => forged,
    ({ preconditions }: Given) => {
      preconditions.check(undefined)
      return undefined
    },
    ({ preconditions }: Given) => {
      const own = preconditions.check(undefined)
      return earlier.push(own) === 1 ? own : earlier[0]
    },
  ]) {
    const putNote = async (given: Given) => ({ status: 204, checked: checkedBy(given), body: undefined })
    const { port } = await serve(t, { putNote })
    t.equal((await statuses(t, port, [['PUT /note'], ['PUT /note']])).at(-1), 500)
  }
})

t.test('an error of a write needs no check', async (t) => {
  const putNote = async () => ({ status: 404, body: { error: 40400, message: 'no note' } })
  const { port } = await serve(t, { putNote })
  t.same(await statuses(t, port, [['PUT /note', ['If-Match: "v0"']]]), [404])
})

t.test('a tag without quotes or a date of another form becomes a 500', async (t) => {
  for (const headers of [{ ETag: 'v1' }, { ETag: '"a b"' }, { 'Last-Modified': '2026-01-01' }]) {
    const { port } = await serve(t, { getNote: async () => ({ status: 200, headers, body: 'text' }) })
    t.same(await statuses(t, port, [['GET /note']]), [500], JSON.stringify(headers))
  }
})

t.test('a 304 or a 412 in place of a stream ends its source', async (t) => {
  const { port, note } = await serve(t)
  const seen = await send(t, port, [
    ['GET /stream', ['If-None-Match: "v1"']],
    ['HEAD /stream', ['If-None-Match: "v1"']],
    ['GET /stream', ['If-Match: "v0"']],
  ])
  t.same(
    seen.map(({ status }) => status),
    [304, 304, 412],
  )
  t.equal(note.closed, 3)
  const [whole] = await send(t, port, [['GET /stream', ['If-None-Match: "v0"']]])
  t.match(whole, { status: 200, headers: { etag: '"v1"' }, body: /text/ })
})

t.test('x-etag: body makes a strong tag of the serialized body', async (t) => {
  const { port } = await serve(t)
  const [first, head, again] = await send(t, port, [['GET /digest'], ['HEAD /digest'], ['GET /digest']])
  const etag = first?.headers.etag ?? ''
  t.match(etag, /^"[\w-]{43}"$/)
  t.same([head?.headers.etag, again?.headers.etag, first?.body], [etag, etag, '"text"'])
  t.equal(head?.headers['content-length'], first?.headers['content-length'])
  const [fresh, stale] = await send(t, port, [
    ['GET /digest', [`If-None-Match: ${etag}`]],
    ['GET /digest', ['If-None-Match: "other"']],
  ])
  t.match(fresh, { status: 304, body: '', headers: { etag, vary: 'Accept' } })
  t.match(stale, { status: 200, body: '"text"', headers: { 'content-type': 'application/json; charset=utf-8' } })
  const other = await serve(t, { getDigest: async () => ({ status: 200, body: 'other' }) })
  t.not((await send(t, other.port, [['GET /digest']]))[0]?.headers.etag, etag)
  const wrong = await serve(t, { getDigest: async () => ({ status: 200, body: 7 }) })
  t.same(await statuses(t, wrong.port, [['GET /digest']]), [500])
})

t.test('an operation has the step of preconditions only if it evaluates them', async (t) => {
  const routes = compileRoutes(document)
  const { operations } = routes
  const conditional = operations.filter(({ preconditions }) => preconditions !== undefined)
  const nameOf = ({ operationId }: Operation) => operationId
  t.same(conditional.map(nameOf), ['getNote', 'putNote', 'putStrict', 'getStream', 'getDigest', 'getListed'])
  const hooks: Record<string, number> = {}
  const app = await serveDocument(document, {
    handlers: Object.fromEntries(operations.map((one) => [one.operationId, async () => undefined as never])),
    plugins: (app) => {
      app.addHook('onRoute', ({ schema, onRequest, method }) => {
        const { operationId } = schema as { operationId: string }
        if (method !== 'HEAD') hooks[operationId] = [onRequest].flat().length
      })
    },
  })
  t.teardown(() => app.close())
  await app.ready()
  t.equal(hooks.getNote, Number(hooks.getPlain) + 1)
  t.equal(hooks.putNote, Number(hooks.deleteNote) + 1)
})
