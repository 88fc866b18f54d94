import { generateKeyPairSync } from 'node:crypto'
import bearerAuth from '@fastify/bearer-auth'
import { createKey, startIssuer } from 'fastify-contract-test-support/issuer'
import t, { type Test } from 'tap'
import { basic, tokensAsPasswords } from '../../src/auth/basic.ts'
import { jwtVerifier } from '../../src/auth/jwt.ts'
import { testCredentials } from '../../src/auth/test-clients.ts'
import { testKeyOf } from '../../src/auth/test-trust.ts'
import { createTokenVerifier } from '../../src/auth/token-verifier.ts'
import type { VerifyToken } from '../../src/auth/tokens.ts'
import { apiKey, bearer, bearerHook, type VerifierFactory } from '../../src/auth/verifiers.ts'
import { createServer } from '../../src/routes/create-server.ts'
import { compileRoutes, errorBody } from '../support/serve-document.ts'

const audience = 'https://trees.example'
const responses = { 200: { description: 'The client.', content: { 'application/json': { schema: {} } } } }
const document = {
  openapi: '3.1.0',
  info: { title: 'Trees', version: '1.0.0' },
  components: { securitySchemes: { scheme: { type: 'http', scheme: 'bearer' } } },
  paths: { '/': { get: { operationId: 'client', security: [{ scheme: ['prune'] }], responses } } },
}
const routes = compileRoutes(document as never)
const client: unknown = async ({ client }: { client?: object }) => ({ status: 200, body: client ?? null })

/** Serves the document. Returns the application, and what sends credentials and resolves to the client or the status. */
function serve(t: Test, scheme: VerifierFactory, authFailures = 0) {
  const app = createServer({
    contract: { routes },
    handlers: { client } as never,
    verifiers: { scheme },
    errorBody: errorBody as never,
    limits: { eventLoopDelay: 60_000, authFailures },
  })
  t.teardown(() => app.close())
  async function send(headers: Record<string, string>): Promise<unknown> {
    const { statusCode, body } = await app.inject({ url: '/', headers })
    return statusCode === 200 ? JSON.parse(body) : statusCode
  }
  return { app, send: (token: string | undefined) => send({ authorization: `Bearer ${token}` }), sendHeaders: send }
}

const withoutSubject = { name: 'contract-test', scopes: ['prune', 'plant'] }
const accepted = { ...withoutSubject, subject: 'contract-test' }
const kinds = [
  'a token that another key has signed',
  'an expired token',
  'a token that is not yet valid',
  'a token for another audience',
  'a token of another issuer',
  'an ID token instead of an access token',
]
const unreachable = { issuer: 'https://issuer.invalid', jwksUrl: 'https://issuer.invalid/keys', audience }

t.test('a JWT verifier verifies the tokens of a test, and rejects each wrong one, without its issuer', async (t) => {
  const { verify: listed } = await createTokenVerifier(
    { tokens: ['plants_0123456789abcdefghijklmnop'], tokensFile: undefined, jwt: unreachable },
    { load() {}, error: t.fail },
  )
  const direct = jwtVerifier(unreachable)
  const verifiers: [what: string, VerifierFactory][] = [
    ['the verifier', bearer(direct)],
    ['one that calls it', bearer(async (token, within) => (await Promise.resolve()) ?? (await direct(token, within)))],
    ['one beside a list of tokens', bearer(listed)],
    [
      'a hook',
      bearerHook(direct, async function pluginHook(app, auth) {
        await app.register(bearerAuth, { keys: new Set<string>(), addHook: false, auth, verifyErrorLogLevel: 'debug' })
        return app.verifyBearerAuth as NonNullable<typeof app.verifyBearerAuth>
      }),
    ],
  ]
  for (const [what, verifier] of verifiers) {
    const { app, send } = serve(t, verifier)
    const { schemes, withdraw } = await testCredentials(app, ['prune', 'plant'])
    const { scheme } = schemes
    t.match(scheme?.accepted, /^eyJ[\w-]+\.[\w-]+\.[\w-]{86}$/, what)
    t.same(await send(scheme?.accepted), accepted, what)
    t.same(await send(scheme?.narrow), 403, what)
    t.same(Object.keys(scheme?.rejected ?? {}), kinds)
    for (const [wrong, token] of Object.entries(scheme?.rejected ?? {})) t.same(await send(token), 401, wrong)
    t.same(await send(scheme?.accepted.replace(/\.[^.]*$/, '.AA')), 401, what)
    withdraw()
    t.same(
      await send(scheme?.accepted),
      503,
      `${what}: after the test, its key is one that the issuer would have to tell`,
    )
  }
})

t.test('each token differs from an accepted one in what is wrong only', async (t) => {
  const { app } = serve(t, bearer(jwtVerifier(unreachable)))
  const { scheme } = (await testCredentials(app, ['prune'])).schemes
  const decoded = (token: string | undefined) =>
    String(token)
      .split('.', 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
  const [header, claims] = decoded(scheme?.accepted)
  t.match(header, { alg: 'ES256', typ: 'at+jwt', kid: /^[\da-f-]{36}$/ })
  t.match(claims, { iss: unreachable.issuer, aud: audience, sub: 'contract-test', scope: 'prune' })
  const { scope: _, jti: _jti, ...others } = claims
  t.match(decoded(scheme?.narrow)[1], others)
  const differences = kinds.map(function differencesOf(kind) {
    const [otherHeader, otherClaims] = decoded(scheme?.rejected[kind])
    const changed = (one: Record<string, unknown>, other: Record<string, unknown>) =>
      Object.keys(other).filter((name) => name !== 'jti' && one[name] !== other[name])
    return [...changed(header, otherHeader), ...changed(claims, otherClaims)]
  })
  t.same(differences, [[], ['iat', 'exp'], ['nbf'], ['aud'], ['iss'], ['typ']])
})

t.test('nobody else trusts the key of a test, and real tokens are accepted during it', async (t) => {
  const issuer = await startIssuer(t)
  const key = createKey(issuer.url)
  issuer.serve('/keys', { keys: [key.jwk] })
  const verify: VerifyToken = jwtVerifier({ issuer: issuer.url, audience, jwksUrl: issuer.jwksUrl })
  const real = key.token({ claims: { aud: audience, scope: 'prune' } })
  const [tested, other] = [serve(t, bearer(verify)), serve(t, bearer(verify))]
  t.match(await tested.send(real), { name: 'gardener' })
  const { schemes, withdraw } = await testCredentials(tested.app, ['prune', 'plant'])
  const token = schemes.scheme?.accepted as string
  t.same(await tested.send(token), accepted)
  t.same(await tested.send(token), accepted)
  t.match(await tested.send(real), { name: 'gardener' })
  t.same(await other.send(token), 401, 'another application with the same verifier')
  t.equal(await verify(token), undefined)
  withdraw()
  t.same(await tested.send(token), 401, 'after the test, also if the token was accepted a moment ago')
  t.match(await tested.send(real), { name: 'gardener' })
  const again = await testCredentials(tested.app, ['prune', 'plant'])
  t.same(await tested.send(token), 401, 'another test has another key')
  t.same(await tested.send(again.schemes.scheme?.accepted), accepted)
})

t.test('the limit of authentication failures does not reject valid tokens of a test', async (t) => {
  const { app, send } = serve(t, bearer(jwtVerifier(unreachable)), 3)
  const { scheme } = (await testCredentials(app, ['prune', 'plant'])).schemes
  const statuses: unknown[] = []
  for (const wrong of Object.values(scheme?.rejected ?? {})) statuses.push(await send(wrong))
  t.same(statuses, [401, 401, 401, 429, 429, 429])
  t.same(await send(scheme?.accepted), accepted)
  t.same(await send(scheme?.narrow), 403)
})

t.test('passwords and API keys are tokens where a JWT verifier verifies them', async (t) => {
  const verify = jwtVerifier(unreachable)
  const passwords = serve(t, basic(tokensAsPasswords(verify)))
  const { scheme } = (await testCredentials(passwords.app, ['prune', 'plant'])).schemes
  const asBasic = (text = '') => passwords.sendHeaders({ authorization: `Basic ${btoa(text)}` })
  t.match(scheme?.accepted, /^contract-test:eyJ/)
  t.same(await asBasic(scheme?.accepted), accepted)
  t.same(await asBasic(scheme?.narrow), 403)
  for (const text of Object.values(scheme?.rejected ?? {})) t.same(await asBasic(text), 401)
  t.same(await asBasic(scheme?.accepted.replace('contract-test:', 'other:')), 401)

  const keys = serve(t, apiKey({ in: 'header', name: 'x-key' }, verify))
  const { scheme: key } = (await testCredentials(keys.app, ['prune', 'plant'])).schemes
  t.same(await keys.sendHeaders({ 'x-key': String(key?.accepted) }), accepted)
  t.same(await keys.sendHeaders({ 'x-key': String(key?.narrow) }), 403)
})

t.test('a verifier that cannot look up a token gets random credentials', async (t) => {
  const failing: VerifyToken[] = [
    () => Promise.reject(new Error('the store of tokens is down')),
    () => {
      throw new Error('the store of tokens is down')
    },
  ]
  for (const verify of failing) {
    const { app, send } = serve(t, bearer(verify))
    const { scheme } = (await testCredentials(app, ['prune', 'plant'])).schemes
    t.match(scheme, { accepted: /^[\w-]{49}$/, rejected: {} })
    t.same(await send(scheme?.accepted), withoutSubject)
  }
})

t.test('another copy of the engine trusts the key of a test, as that of the commands', async (t) => {
  const path = '../../src/auth/test-trust.ts?copy'
  const copy: typeof import('../../src/auth/test-trust.ts') = await import(path)
  t.not(copy.testKeyOf, testKeyOf)
  const { publicKey } = generateKeyPairSync('ed25519')
  copy.withTestTrust({ key: { kid: 'one', publicKey } }, () => t.equal(testKeyOf('one'), publicKey))
  t.equal(testKeyOf('one'), undefined)
})
