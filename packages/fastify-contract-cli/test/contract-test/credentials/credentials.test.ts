import t from 'tap'
import { environmentCredentials, variableOf } from '../../../src/contract-test/credentials/environment-credentials.ts'
import { requestCredentials } from '../../../src/contract-test/credentials/request-credentials.ts'
import type { TestRequest } from '../../../src/contract-test/exchange.ts'
import { type Document, endpoints } from '../../../src/document/openapi-document.ts'
import { testRequest } from '../test-request.ts'

const security: Record<string, object[]> = {
  open: [],
  optional: [{}, { bearer: [] }],
  bearer: [{ bearer: [] }],
  scoped: [{ oauth: ['read'] }],
  either: [{ oauth: ['read'] }, { apiKey: [] }],
  both: [{ oauth: ['read'], apiKey: [] }],
  suffices: [{ oauth: [], apiKey: [] }, { apiKey: [] }],
  sameHeader: [{ bearer: [], oauth: [] }],
  cookie: [{ cookieKey: [] }],
  header: [{ headerKey: [] }],
  basic: [{ basic: [] }],
  impossible: [{ bearer: [], basic: [] }],
  certificate: [{ certificate: [] }],
}

const document = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1.0.0' },
  components: {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      oauth: { type: 'oauth2', flows: {} },
      basic: { type: 'http', scheme: 'basic' },
      apiKey: { type: 'apiKey', in: 'query', name: 'api key' },
      headerKey: { type: 'apiKey', in: 'header', name: 'X-Key' },
      cookieKey: { type: 'apiKey', in: 'cookie', name: 'key' },
      certificate: { type: 'mutualTLS' },
    },
  },
  paths: Object.fromEntries(
    Object.entries(security).map(([operationId, security]) => [
      `/${operationId}`,
      { get: { operationId, security, responses: { 200: { description: 'All.' } } } },
    ]),
  ),
} as unknown as Document

const requestOf = (operationId: string, given: Partial<TestRequest> = {}) =>
  testRequest({
    operation: endpoints(document).find((one) => one.operationId === operationId) as TestRequest['operation'],
    target: `/${operationId}`,
    ...given,
  })

const credentials = requestCredentials(document, {
  bearer: 'b-token',
  oauth: { accepted: 'wide', narrow: 'narrow' },
  apiKey: 'k&y',
  headerKey: 'h',
  cookieKey: 'c',
  basic: 'user:pass:word',
})

const sent = (request: TestRequest | undefined) => request && [request.target, request.headers]

t.test('accepted credentials are where their scheme says', async (t) => {
  const accepted = (id: string, given?: Partial<TestRequest>) => sent(credentials.accepted(requestOf(id, given)))
  t.same(accepted('open'), ['/open', {}])
  t.same(accepted('optional'), ['/optional', { authorization: 'Bearer b-token' }])
  t.same(accepted('bearer'), ['/bearer', { authorization: 'Bearer b-token' }])
  t.same(accepted('either'), ['/either', { authorization: 'Bearer wide' }])
  t.same(accepted('both'), ['/both?api%20key=k%26y', { authorization: 'Bearer wide' }])
  t.same(accepted('both', { target: '/both?a=1' }), ['/both?a=1&api%20key=k%26y', { authorization: 'Bearer wide' }])
  t.same(accepted('cookie'), ['/cookie', { cookie: 'key=c' }])
  t.same(accepted('cookie', { headers: { cookie: 'a=1' } }), ['/cookie', { cookie: 'a=1; key=c' }])
  t.same(accepted('header'), ['/header', { 'x-key': 'h' }])
  t.same(accepted('basic'), ['/basic', { authorization: `Basic ${btoa('user:pass:word')}` }])
  t.same(accepted('impossible'), undefined)
  t.same(accepted('certificate'), undefined)
  t.same(sent(requestCredentials(document, {}).accepted(requestOf('optional'))), ['/optional', {}])
  t.same(sent(requestCredentials(document, {}).accepted(requestOf('bearer'))), undefined)
})

t.test('rejected credentials are none, wrong ones, and those without a scope', async (t) => {
  const rejected = (id: string) => credentials.rejected(requestOf(id))
  for (const id of ['open', 'optional', 'impossible', 'certificate']) t.same(rejected(id), [], id)
  const [none, wrong, ...others] = rejected('bearer')
  t.same(others, [])
  t.same([none?.status, none?.request.headers], [401, {}])
  t.equal(wrong?.status, 401)
  t.match(wrong?.request.headers.authorization, /^Bearer [\da-f]{64}$/)
  const narrow = rejected('scoped').at(-1)
  t.same([narrow?.status, narrow?.request.headers], [403, { authorization: 'Bearer narrow' }])
  const both = rejected('both').at(-1)
  t.same([both?.status, sent(both?.request)], [403, ['/both?api%20key=k%26y', { authorization: 'Bearer narrow' }]])
  t.same(
    rejected('either').map(({ status }) => status),
    [401, 401, 401],
    'each alternative is wrong once, and the key needs no scope',
  )
  const [, basic] = rejected('basic')
  t.match(atob(String(basic?.request.headers.authorization).replace('Basic ', '')), /^user:[\da-f]{64}$/)
})

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const token = `${encode({ alg: 'ES256', kid: 'k' })}.${encode({ sub: 'a', scope: 'read' })}.AbcdefghijklmnopQ`

t.test('a JSON Web Token is also sent with another signature, without one, and with other claims', async (t) => {
  const all = requestCredentials(document, { bearer: token }).rejected(requestOf('bearer'))
  t.same(
    all.map(({ reason, status }) => [reason, status]),
    [
      ['without credentials', 401],
      ['with wrong credentials', 401],
      ['with a token whose signature is wrong', 401],
      ['with a token without a signature', 401],
      ['with a token whose claims were changed', 401],
    ],
  )
  const [header, claims, signature] = token.split('.')
  t.same(
    all.slice(2).map(({ request }) => request.headers.authorization),
    [
      `Bearer ${token.replace('.Ab', '.Bb')}`,
      `Bearer ${encode({ alg: 'none', kid: 'k' })}.${claims}.`,
      `Bearer ${header}.${encode({ sub: 'another subject', scope: 'read' })}.${signature}`,
    ],
  )
  const [, , basic] = requestCredentials(document, { basic: `user:${token}` }).rejected(requestOf('basic'))
  t.equal(basic?.request.headers.authorization, `Basic ${btoa(`user:${token.replace('.Ab', '.Bb')}`)}`)
  const encrypted = `${encode({ alg: 'dir', enc: 'A128GCM' })}.AAAA.AAAAAAAAAA`
  const reasons = requestCredentials(document, { bearer: encrypted }).rejected(requestOf('bearer'))
  t.notMatch(
    reasons.map(({ reason }) => reason),
    /claims/,
  )
})

t.test('credentials that are given as rejected are sent once for each scheme', async (t) => {
  const given = requestCredentials(document, { bearer: { accepted: 'b', rejected: { 'an expired token': 'old' } } })
  const last = given.rejected(requestOf('bearer')).at(-1)
  t.same(
    [last?.reason, last?.status, last?.request.headers.authorization],
    ['with an expired token', 401, 'Bearer old'],
  )
  t.equal(given.rejected(requestOf('bearer')).length, 2)
})

t.test('each scheme of a requirement is missing and wrong once, unless the others suffice', async (t) => {
  const both = credentials.rejected(requestOf('both'))
  t.same(
    both.map(({ reason }) => reason),
    [
      'without credentials',
      'with wrong credentials',
      'without credentials of oauth',
      'with wrong credentials of oauth',
      'without credentials of apiKey',
      'with wrong credentials of apiKey',
      'with credentials without a scope',
    ],
  )
  t.same(sent(both[2]?.request), ['/both?api%20key=k%26y', {}])
  t.match(sent(both[3]?.request), ['/both?api%20key=k%26y', { authorization: /^Bearer [\da-f]{64}$/ }])
  t.same(sent(both[4]?.request), ['/both', { authorization: 'Bearer wide' }])
  t.match(both[5]?.request.target, /^\/both\?api%20key=[\da-f]{64}$/)
  t.same(
    credentials.rejected(requestOf('suffices')).map(({ reason }) => reason),
    [
      'without credentials',
      'with wrong credentials',
      'without credentials of apiKey',
      'with wrong credentials of apiKey',
      'with wrong credentials',
    ],
  )
  t.same(
    credentials.rejected(requestOf('sameHeader')).map(({ reason }) => reason),
    ['without credentials', 'with wrong credentials'],
  )
})

t.test('the reason for missing credentials says what to set', async (t) => {
  const missing = (id: string, given: object = {}) =>
    requestCredentials(document, { ...given }).missing?.(security[id] as Record<string, string[]>[])
  const end = 'or the option credentials'
  t.equal(missing('bearer'), `there are no credentials for bearer; set CONTRACT_TEST_BEARER, ${end}`)
  t.equal(
    missing('either'),
    `there are no credentials for oauth, or apiKey; set CONTRACT_TEST_OAUTH, or CONTRACT_TEST_API_KEY, ${end}`,
  )
  t.equal(
    missing('both'),
    `there are no credentials for oauth and apiKey; set CONTRACT_TEST_OAUTH and CONTRACT_TEST_API_KEY, ${end}`,
  )
  t.equal(missing('both', { oauth: 'o' }), `there are no credentials for apiKey; set CONTRACT_TEST_API_KEY, ${end}`)
  t.equal(
    missing('certificate'),
    'there are no credentials; no request of a test can carry those of certificate (mutualTLS)',
  )
  t.equal(missing('impossible'), 'there are no credentials; those of bearer and basic need the same header')
  for (const id of ['open', 'optional']) t.equal(missing(id), undefined, id)
  t.equal(missing('bearer', { bearer: 'b' }), undefined)
})

t.test('credentials of a scheme that no operation has are an error', async (t) => {
  const message = /no operation has the security scheme beaver; expected bearer, oauth/
  t.throws(() => requestCredentials(document, { beaver: 'x' }), { message })
})

t.test('environment variables have the credentials of each scheme', async (t) => {
  t.same(['bearer', 'apiKey', 'OAuth2', 'api-key v2'].map(variableOf), [
    'CONTRACT_TEST_BEARER',
    'CONTRACT_TEST_API_KEY',
    'CONTRACT_TEST_OAUTH2',
    'CONTRACT_TEST_API_KEY_V2',
  ])
  const read = (environment: NodeJS.ProcessEnv) => environmentCredentials(document, environment)
  t.same(read({}), {})
  t.same(read({ CONTRACT_TEST_OAUTH: 'a', CONTRACT_TEST_OAUTH_NARROW: 'b', CONTRACT_TEST_CREDENTIALS: 'c' }), {
    oauth: { accepted: 'a', narrow: 'b' },
  })
  t.throws(() => read({ CONTRACT_TEST_BEAVER: 'secret' }), {
    message: /^CONTRACT_TEST_BEAVER: no security scheme has it; expected CONTRACT_TEST_BEARER, (?!.*secret)/,
  })
  t.throws(() => read({ CONTRACT_TEST_OAUTH_NARROW: 'b' }), { message: /is set without CONTRACT_TEST_OAUTH/ })
  const twice = structuredClone(document) as Document & { paths: Record<string, { get: object }> }
  Object.assign(twice.components as object, {
    securitySchemes: { 'a-b': { type: 'http', scheme: 'bearer' }, a_b: { type: 'http', scheme: 'bearer' } },
  })
  twice.paths = { '/a': { get: { operationId: 'a', security: [{ 'a-b': [] }, { a_b: [] }], responses: {} } } }
  t.throws(() => environmentCredentials(twice, {}), { message: /a-b and a_b have the same variable/ })
})
