import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { requestCredentials } from '../../src/contract-test/credentials/request-credentials.ts'
import type { Target, TestRequest } from '../../src/contract-test/exchange.ts'
import { applicationTarget, documentOf, noCredentials, testApplication } from './test-application.ts'

const json = (schema: object) => ({ description: 'ok', content: { 'application/json': { schema } } })
const body = (schema: object) => ({ required: true, content: { 'application/json': { schema } } })
const named = { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 30 } } }
const operation = { operationId: 'send', requestBody: body(named), responses: { 200: json({ type: 'object' }) } }
const document = documentOf({ '/names': { post: operation } })

/** Returns an application that accepts what the document describes, and fails for names with an x. */
function application(isFaulty: boolean): FastifyInstance {
  const app = Fastify({ ajv: { customOptions: { coerceTypes: false } } })
  app.post('/names', { schema: { body: named } }, (request) => {
    if (isFaulty && (request.body as { name: string }).name.includes('x')) throw new Error('a name with an x')
    return {}
  })
  return app
}

/** Returns a target that keeps the requests. */
function recording(app: FastifyInstance): { target: Target; sent: TestRequest[] } {
  const sent: TestRequest[] = []
  const { send, ...target } = applicationTarget(app)
  const recorded: Target['send'] = (request) => {
    sent.push(request)
    return send(request)
  }
  return { sent, target: { ...target, send: recorded } }
}

const texts = (sent: TestRequest[]) =>
  sent.map(({ method, target, body }) => `${method} ${target} ${Buffer.from(body ?? '').toString('latin1')}`)

t.test('the same seed gives the same requests, and a lower bound a prefix of them', async (t) => {
  const run = async (options: object) => {
    const { sent, target } = recording(application(false))
    await testApplication(application(false), document, { ...options, target })
    return texts(sent)
  }
  const first = await run({ seed: 7, requests: 120 })
  t.same(await run({ seed: 7, requests: 120 }), first)
  t.same(await run({ seed: 7, requests: 40 }), first.slice(0, 40))
  t.notSame(await run({ seed: 8, requests: 120 }), first)
  t.equal(first.length, 120)
})

t.test('a failure is shrunk, reported once, and its repetitions are counted', async (t) => {
  const { failures, requests, shrinkRequests } = await testApplication(application(true), document, { requests: 400 })
  const [failure, ...others] = failures
  t.same(others, [])
  t.match(failure, { check: 'no-server-error', kind: '500', got: 'status 500', seed: 1, response: { status: 500 } })
  t.ok(Buffer.from(failure?.request.body ?? '').toString().length < 40, String(failure?.request.body))
  t.ok((failure?.repeats ?? 0) > 0)
  t.ok(shrinkRequests > 0 && shrinkRequests <= 110, `${shrinkRequests} requests`)
  t.equal(requests, 400)
})

t.test('a run ends at each of its bounds', async (t) => {
  const end = async (options: object) => (await testApplication(application(true), document, options)).end
  t.equal(await end({ requests: 5 }), 'requests')
  t.equal(await end({ requests: 100_000, seconds: 0.2 }), 'seconds')
  t.equal(await end({ requests: 100_000, maxFailures: 1 }), 'failures')
  t.equal(await end({ signal: AbortSignal.abort() }), 'aborted')
  await t.rejects(end({ requests: 0 }), { message: 'requests is 0; expected a positive number' })
  await t.rejects(end({ seed: 1.5 }), { message: 'seed is 1.5; expected an integer' })
})

t.test('a check is turned off by the document or a setting, with its reason in the result', async (t) => {
  const off = { 'no-server-error': 'the parser of names is being replaced' }
  const marked = documentOf({ '/names': { post: { ...operation, 'x-contract-test': { off } } } })
  const byDocument = await testApplication(application(true), marked)
  const bySetting = await testApplication(application(true), document, { off: { send: off } })
  const byAll = await testApplication(application(true), { ...document, 'x-contract-test': { off } } as typeof document)
  for (const { failures, operations } of [byDocument, bySetting, byAll]) {
    t.same(failures, [])
    t.same(operations[0]?.off, [{ check: 'no-server-error', reason: 'the parser of names is being replaced' }])
  }
  const rejected = async (off: object) => await testApplication(application(true), document, { off: off as never })
  await t.rejects(
    rejected({ send: { 'no-error': 'why' } }),
    /^off of send: unknown check "no-error"; use complete-response, /,
  )
  await t.rejects(rejected({ send: { 'valid-body': ' ' } }), /valid-body has no reason; write a text/)
  await t.rejects(rejected({ other: {} }), /the document has no operation other; use send, or \* for all/)
  const unknown = documentOf({ '/names': { post: { ...operation, 'x-contract-test': { of: off } } } })
  await t.rejects(testApplication(application(true), unknown), /unknown of; expected \{ off: \{ CHECK: REASON \} \}/)
})

t.test('operations are selected by operationId or path, and each is prepared by a hook first', async (t) => {
  const two = documentOf({ '/names': { post: operation }, '/other': { get: { operationId: 'other', responses: {} } } })
  const prepared: unknown[] = []
  const before = (one: unknown) => void prepared.push(one)
  for (const name of ['send', 'POST /names']) {
    const { operations } = await testApplication(application(false), two, { operations: [name], before, requests: 20 })
    t.same(
      operations.map(({ operationId }) => operationId),
      ['send'],
    )
  }
  t.same(prepared, Array(2).fill({ operationId: 'send', method: 'POST', path: '/names' }))
  await t.rejects(testApplication(application(false), two, { operations: ['nowhere'] }), /has no operation nowhere/)
})

t.test('progress is reported after each request', async (t) => {
  const reported: number[] = []
  await testApplication(application(false), document, {
    requests: 30,
    onProgress: ({ requests }) => reported.push(requests),
  })
  t.same(
    [...new Set(reported)],
    Array.from({ length: 30 }, (_, index) => index + 1),
  )
})

t.test('each of 1,000 operations gets a request within the default bound', async (t) => {
  const paths: Record<string, object> = {}
  for (let index = 0; index < 1_000; index++)
    paths[`/names/${index}`] = { post: { ...operation, operationId: `send${index}` } }
  const app = Fastify()
  app.post('/names/:index', () => ({}))
  const end = new AbortController()
  const { operations, requests } = await testApplication(app, documentOf(paths), {
    requests: 1_000,
    seconds: 300,
    signal: end.signal,
  })
  t.equal(operations.filter(({ requests }) => requests === 1).length, 1_000)
  t.equal(requests, 1_000)
})

t.test(
  'a server that sends no complete response fails complete-response, and one that is away ends the run',
  async (t) => {
    const failing = (kind: string): Target => ({
      ...applicationTarget(Fastify()),
      send: () => Promise.reject(Object.assign(new Error('no response'), { kind })),
    })
    const run = (kind: string) =>
      testApplication(Fastify(), document, { target: failing(kind), credentials: noCredentials })
    const { failures, operations } = await run('timeout')
    t.match(failures, [{ check: 'complete-response', got: 'no response', response: undefined }])
    t.equal(operations[0]?.untested, 'no valid request got a response')
    t.same((await run('unsendable')).failures, [])
    await t.rejects(run('unreachable'), { message: 'no response' })
  },
)

t.test(
  'a server that goes away during a run fails complete-response, and the run waits for it to come back',
  async (t) => {
    const leaving = (absences: number, kind = 'unreachable') => {
      const target = applicationTarget(application(false))
      let sent = 0
      const send: Target['send'] = async (request) => {
        sent++
        if (sent <= 3 || sent > 3 + absences) return await target.send(request)
        throw Object.assign(new Error('nothing listens there'), { kind })
      }
      return testApplication(Fastify(), document, { target: { ...target, send }, requests: 20 })
    }
    const failure = { check: 'complete-response', got: 'nothing listens there' }
    const { failures, end, requests } = await leaving(2)
    t.match(failures, [failure])
    t.match({ end, requests }, { end: 'requests', requests: 20 })
    t.match(await leaving(2, 'tls'), { failures: [failure], end: 'requests', requests: 20 })
    const lost = await leaving(100)
    t.match(lost.failures, [failure])
    t.match(lost, { end: 'unreachable', requests: 4 })
  },
)

t.test('credentials are shown as placeholders, and a request without them must be rejected', async (t) => {
  const schemes = { token: { type: 'http', scheme: 'bearer' }, key: { type: 'apiKey', in: 'query', name: 'key' } }
  const secured = documentOf(
    { '/names': { post: { ...operation, security: [{ token: [], key: [] }] } } },
    { securitySchemes: schemes },
  )
  const app = application(true)
  const accepted = (request: TestRequest): TestRequest => ({
    ...request,
    target: `${request.target}?key=secret-key`,
    headers: { ...request.headers, authorization: 'Bearer secret-token' },
  })
  const rejected = (request: TestRequest) => [{ request, status: 401 as const, reason: 'without credentials' }]
  const { failures } = await testApplication(app, secured, { credentials: { accepted, rejected }, requests: 200 })
  t.same(new Set(failures.map(({ check }) => check)), new Set(['no-server-error', 'requires-credentials']))
  t.notMatch(JSON.stringify(failures), /secret/)
  const [failure] = failures.filter(({ check }) => check === 'no-server-error')
  t.match(failure?.request.target, '/names?key=CREDENTIALS')
  t.ok(failure?.request.headers.some(([, value]) => value === 'Bearer CREDENTIALS'))
  const none = requestCredentials(secured, {})
  const { operations } = await testApplication(application(true), secured, { credentials: none })
  t.match(operations[0], { requests: 0, untested: /^there are no credentials for token and key; set / })
})
