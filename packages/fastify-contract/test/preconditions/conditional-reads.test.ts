import t from 'tap'
import type { Operation } from '../../src/contract/routes.ts'
import { crossOriginNames } from '../../src/routes/register-routes.ts'
import {
  before,
  conditionalDocument,
  date,
  sendRaw,
  serveConditional,
  statuses,
} from '../support/conditional-service.ts'
import { compileRoutes, serveDocument } from '../support/serve-document.ts'

t.test('a GET and a HEAD with a current tag or date get 304, others the whole response', async (t) => {
  const { port } = await serveConditional(t)
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
  const { port } = await serveConditional(t)
  for (const method of ['GET', 'HEAD']) {
    const [seen, next] = await sendRaw(t, port, [[`${method} /note`, ['If-None-Match: "v1"']], ['GET /note']])
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
  const { port } = await serveConditional(t, { getNote })
  const [seen] = await sendRaw(t, port, [['GET /note', [`If-Modified-Since: ${date}`]]])
  t.match(seen, { status: 304, headers: { 'last-modified': date } })
})

t.test('an operation that does not list 412 ignores If-Match', async (t) => {
  const { port } = await serveConditional(t)
  t.same(
    await statuses(t, port, [
      ['GET /listed', ['If-Match: "v0"']],
      ['GET /listed', ['If-None-Match: "v1"', 'If-Match: v0']],
    ]),
    [200, 304],
  )
})

t.test('an operation that lists neither status ignores preconditions', async (t) => {
  const { port, note } = await serveConditional(t)
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
  const { port, note } = await serveConditional(t)
  note.etag = undefined
  t.same(
    await statuses(t, port, [
      ['GET /note', ['If-Match: "v0"']],
      ['GET /note', ['If-None-Match: *']],
    ]),
    [404, 404],
  )
})

t.test('a tag without quotes or a date of another form becomes a 500', async (t) => {
  for (const headers of [{ ETag: 'v1' }, { ETag: '"a b"' }, { 'Last-Modified': '2026-01-01' }]) {
    const { port } = await serveConditional(t, { getNote: async () => ({ status: 200, headers, body: 'text' }) })
    t.same(await statuses(t, port, [['GET /note']]), [500], JSON.stringify(headers))
  }
})

t.test('a 304 or a 412 in place of a stream ends its source', async (t) => {
  const { port, note } = await serveConditional(t)
  const seen = await sendRaw(t, port, [
    ['GET /stream', ['If-None-Match: "v1"']],
    ['HEAD /stream', ['If-None-Match: "v1"']],
    ['GET /stream', ['If-Match: "v0"']],
  ])
  t.same(
    seen.map(({ status }) => status),
    [304, 304, 412],
  )
  t.equal(note.closed, 3)
  const [whole] = await sendRaw(t, port, [['GET /stream', ['If-None-Match: "v0"']]])
  t.match(whole, { status: 200, headers: { etag: '"v1"' }, body: /text/ })
})

t.test('x-etag: body makes a strong tag of the serialized body', async (t) => {
  const { port } = await serveConditional(t)
  const [first, head, again] = await sendRaw(t, port, [['GET /digest'], ['HEAD /digest'], ['GET /digest']])
  const etag = first?.headers.etag ?? ''
  t.match(etag, /^"[\w-]{43}"$/)
  t.same([head?.headers.etag, again?.headers.etag, first?.body], [etag, etag, '"text"'])
  t.equal(head?.headers['content-length'], first?.headers['content-length'])
  const [fresh, stale] = await sendRaw(t, port, [
    ['GET /digest', [`If-None-Match: ${etag}`]],
    ['GET /digest', ['If-None-Match: "other"']],
  ])
  t.match(fresh, { status: 304, body: '', headers: { etag, vary: 'Accept' } })
  t.match(stale, { status: 200, body: '"text"', headers: { 'content-type': 'application/json; charset=utf-8' } })
  const other = await serveConditional(t, { getDigest: async () => ({ status: 200, body: 'other' }) })
  t.not((await sendRaw(t, other.port, [['GET /digest']]))[0]?.headers.etag, etag)
  const wrong = await serveConditional(t, { getDigest: async () => ({ status: 200, body: 7 }) })
  t.same(await statuses(t, wrong.port, [['GET /digest']]), [500])
})

t.test('pages of other origins may send the preconditions that an operation evaluates', async (t) => {
  const { operations } = compileRoutes(conditionalDocument)
  const { requestHeaders, responseHeaders } = crossOriginNames({ operations })
  const sent = ['If-Match', 'If-Modified-Since', 'If-None-Match', 'If-Unmodified-Since']
  t.same(
    requestHeaders.filter((name) => name.startsWith('If-')),
    sent,
  )
  t.ok(responseHeaders.includes('ETag'))
  const plain = operations.filter(({ preconditions }) => preconditions === undefined)
  t.notOk(crossOriginNames({ operations: plain }).requestHeaders.some((name) => name.startsWith('If-')))
})

t.test('an operation has the step of preconditions only if it evaluates them', async (t) => {
  const routes = compileRoutes(conditionalDocument)
  const { operations } = routes
  const conditional = operations.filter(({ preconditions }) => preconditions !== undefined)
  const nameOf = ({ operationId }: Operation) => operationId
  t.same(conditional.map(nameOf), ['getNote', 'putNote', 'putStrict', 'getStream', 'getDigest', 'getListed'])
  const hooks: Record<string, number> = {}
  const app = await serveDocument(conditionalDocument, {
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
