import { createHmac } from 'node:crypto'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { type GivenCredentials, runContractTest } from '../../../src/contract-test/contract-test.ts'
import { documentOf } from '../test-application.ts'

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const signed = (claims: object): string => {
  const input = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
  return `${input}.${createHmac('sha256', 'key of the server').update(input).digest('base64url')}`
}
const now = Math.floor(Date.now() / 1_000)
const token = signed({ sub: 'a', scope: 'read', exp: now + 3_600 })
const narrow = signed({ sub: 'a', scope: '', exp: now + 3_600 })
const expired = signed({ sub: 'a', scope: 'read', exp: now - 3_600 })

const credentials: GivenCredentials = {
  bearer: 'opaque-token-of-a-client',
  jwt: { accepted: token, narrow, rejected: { 'an expired token': expired } },
  openid: token,
  basic: 'user:pass:word',
  inHeader: 'key-in-a-header',
  inQuery: 'key in a query & more',
  inCookie: 'key-in-a-cookie',
}

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer' },
  jwt: { type: 'oauth2', flows: {} },
  openid: { type: 'openIdConnect', openIdConnectUrl: 'https://issuer.example/.well-known/openid-configuration' },
  basic: { type: 'http', scheme: 'basic' },
  inHeader: { type: 'apiKey', in: 'header', name: 'X-Key' },
  inQuery: { type: 'apiKey', in: 'query', name: 'key' },
  inCookie: { type: 'apiKey', in: 'cookie', name: 'session' },
  certificate: { type: 'mutualTLS' },
}

/** The security requirements of each operation, and whether a request meets one of them in a right server. */
const operations: Record<string, object[]> = {
  bearer: [{ bearer: [] }],
  jwt: [{ jwt: ['read'] }],
  openid: [{ openid: [] }],
  basic: [{ basic: [] }],
  inHeader: [{ inHeader: [] }],
  inQuery: [{ inQuery: [] }],
  inCookie: [{ inCookie: [] }],
  both: [{ bearer: [], inHeader: [] }],
  either: [{ bearer: [] }, { inHeader: [] }],
  optional: [{}, { bearer: [] }],
  certificate: [{ certificate: [] }],
}

const document = documentOf(
  Object.fromEntries(
    Object.entries(operations).map(([operationId, security]) => [
      `/${operationId}`,
      { get: { operationId, security, responses: { 200: { description: 'All.' }, 401: {}, 403: {} } } },
    ]),
  ),
  { securitySchemes },
)

/** What a server does wrong, by its name. */
type Fault = (typeof faults)[number][0]
const faults = [
  ['takes any bearer token', ['bearer', 'both', 'either'], 'with wrong credentials'],
  ['verifies no signature', ['jwt', 'openid'], 'with a token whose signature is wrong'],
  ['takes the algorithm none', ['jwt', 'openid'], 'with a token without a signature'],
  ['takes expired tokens', ['jwt'], 'with an expired token'],
  ['checks no scopes', ['jwt'], 'with credentials without a scope'],
  ['checks the user only', ['basic'], 'with wrong credentials'],
  ['takes any key in a header', ['inHeader', 'both', 'either'], 'with wrong credentials'],
  ['needs no key in a query', ['inQuery'], 'without credentials'],
  ['takes any cookie', ['inCookie'], 'with wrong credentials'],
  ['checks one of two schemes', ['both'], 'without credentials of inHeader'],
  ['verifies no alternative', ['either'], 'with wrong credentials'],
] as const

type Sent = { headers: Record<string, string | undefined>; query: Record<string, string> }

/** Returns the status with which the server responds to a request of an operation. */
function statusOf(id: string, { headers, query }: Sent, fault?: Fault): number {
  const { authorization = '', cookie = '', 'x-key': key } = headers
  const given = authorization.replace(/^Bearer /, '')
  const bearer = given === credentials.bearer || (fault === 'takes any bearer token' && given !== '')
  const inHeader = key === credentials.inHeader || (fault === 'takes any key in a header' && key !== undefined)
  const claims = claimsOf(given, fault)
  const valid: Record<string, boolean> = {
    bearer,
    jwt: claims !== undefined,
    openid: claims !== undefined,
    basic:
      fault === 'checks the user only'
        ? /^Basic dXNlcj/.test(authorization)
        : authorization === `Basic ${btoa(credentials.basic as string)}`,
    inHeader,
    inQuery: query.key === credentials.inQuery || (fault === 'needs no key in a query' && query.key === undefined),
    inCookie: cookie.includes(`session=${fault === 'takes any cookie' ? '' : credentials.inCookie}`),
    both: bearer && (inHeader || fault === 'checks one of two schemes'),
    either: bearer || inHeader || (fault === 'verifies no alternative' && key !== undefined),
    optional: authorization === '' || bearer,
  }
  if (!valid[id]) return 401
  return id === 'jwt' && claims?.scope !== 'read' && fault !== 'checks no scopes' ? 403 : 200
}

function claimsOf(given: string, fault?: Fault): { scope: string } | undefined {
  const [header = '', payload = '', signature] = given.split('.')
  const expected = createHmac('sha256', 'key of the server').update(`${header}.${payload}`).digest('base64url')
  const isUnsigned = fault === 'takes the algorithm none' && Buffer.from(header, 'base64url').includes('"none"')
  if (payload === '' || (signature !== expected && !isUnsigned && fault !== 'verifies no signature')) return undefined
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return claims.exp > now || fault === 'takes expired tokens' ? claims : undefined
}

function application(t: Test, fault?: Fault): FastifyInstance {
  const app = Fastify()
  for (const id of Object.keys(operations))
    app.get(`/${id}`, async (request, reply) => {
      const status = statusOf(id, request as unknown as Sent, fault)
      if (status === 401) reply.header('www-authenticate', 'Bearer')
      return reply.code(status).send()
    })
  t.teardown(() => app.close())
  return app
}

const options = { document, credentials, requests: 300 }

t.test('credentials of each kind of scheme are accepted, in process and at a URL', async (t) => {
  const app = application(t)
  const inProcess = await runContractTest(app, options)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  for (const { failures, operations } of [inProcess, await runContractTest({ url }, options)]) {
    t.same(
      failures.map(({ check, expected, got }) => [check, expected, got]),
      [],
    )
    for (const { operationId, untested } of operations)
      if (operationId === 'certificate') t.match(untested, /no request of a test can carry those of certificate/)
      else t.equal(untested, undefined, operationId)
  }
})

t.test('without credentials no operation that needs some is tested, and the report says what to set', async (t) => {
  const app = application(t)
  const { operations: found, requests } = await runContractTest(app, { document, requests: 300 })
  t.ok(requests < 10)
  const reasons = Object.fromEntries(found.map(({ operationId, untested }) => [operationId, untested]))
  t.equal(reasons.optional, undefined)
  t.match(
    reasons.inQuery,
    /^there are no credentials for inQuery; set CONTRACT_TEST_IN_QUERY, or the option credentials$/,
  )
  t.match(reasons.both, /for bearer and inHeader; set CONTRACT_TEST_BEARER and CONTRACT_TEST_IN_HEADER/)
  t.match(reasons.either, /for bearer, or inHeader/)
})

for (const [fault, ids, reason] of faults)
  t.test(`a server that ${fault} fails, in process and at a URL`, async (t) => {
    const app = application(t, fault)
    const inProcess = await runContractTest(app, options)
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    for (const { failures } of [inProcess, await runContractTest({ url }, options)]) {
      t.same(new Set(failures.map(({ check }) => check)), new Set(['requires-credentials']))
      const found = failures.filter(({ kind }) => kind.startsWith(reason)).map(({ operation }) => operation.operationId)
      for (const id of ids) t.ok(found.includes(id), id)
      t.same(
        failures.filter(({ operation }) => !(ids as readonly string[]).includes(operation.operationId)),
        [],
      )
    }
  })

t.test('no result has credentials that a server sends back', async (t) => {
  const app = Fastify()
  app.get('/bearer', async ({ headers: { authorization = '' } }, reply) => {
    const secret = authorization.replace('Bearer ', '')
    const [first, second] = [secret.slice(0, 12), secret.slice(12)]
    reply.header('x-base64', btoa(authorization)).header('x-plain', secret)
    return reply.code(500).send({ first, second, url: `/?t=${encodeURIComponent(secret)}` })
  })
  t.teardown(() => app.close())
  const { failures } = await runContractTest(app, { ...options, operations: ['bearer'] })
  const shown = failures.map(({ response, ...failure }) => [
    JSON.stringify(failure),
    JSON.stringify(response?.headers),
    String(Buffer.from(response?.body ?? [])),
  ])
  t.match(shown.flat(), [/CREDENTIALS/])
  for (const text of shown.flat()) {
    t.notMatch(text, /opaque-token|of-a-client/)
    t.notMatch(text, new RegExp(btoa('opaque-token-of-a-client').slice(4, 16)))
    t.notMatch(text, new RegExp(btoa('Bearer opaque-token-of-a-client').slice(12, 24)))
  }
})
