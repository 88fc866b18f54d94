import { writeFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { audience, createKey, startIssuer } from 'fastify-contract-test-support/issuer'
import { writeTokenFile } from 'fastify-contract-test-support/token-files'
import t from 'tap'
import { basic } from '../../src/auth/basic.ts'
import { createTokenVerifier } from '../../src/auth/token-verifier.ts'
import { newToken } from '../../src/auth/tokens.ts'
import { apiKey, bearer, type Verifier, type VerifierContext, type Verifiers } from '../../src/auth/verifiers.ts'
import { ContractError, type ErrorName } from '../../src/contract/errors.ts'
import type { Client } from '../../src/http/request-context.ts'
import { authenticator, createVerifiers, requiredScopes } from '../../src/routes/security.ts'
import { create } from '../../src/service/token-command.ts'
import { serveDocument } from '../support/serve-document.ts'

const responses = { 204: { description: 'Done.' } }
const scopedDocument = {
  openapi: '3.1.0',
  info: { title: 'Plants', version: '1.0.0' },
  security: [{ bearer: [] }],
  components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  paths: {
    '/plants': {
      get: { operationId: 'read', responses },
      delete: { operationId: 'remove', security: [{ bearer: ['plants:write', 'plants:read'] }], responses },
    },
  },
}
const done = async () => ({ status: 204, body: undefined })

t.test('tokens of a list, a file and an issuer are limited to their scopes', async (t) => {
  const issuer = await startIssuer(t)
  const key = createKey(issuer.url)
  issuer.serve('/keys', { keys: [key.jwk] })
  const path = writeTokenFile(t)
  const make = (name: string, scope?: string) => create({ name, ...(scope !== undefined && { scope }) }, Date.now())([])
  const made = [make('writer', 'plants:read plants:write'), make('reader', 'plants:read'), make('former')]
  writeFileSync(path, JSON.stringify({ tokens: made.flatMap(({ entries }) => entries) }))
  const [writer, reader, former] = made.map(({ result }) => result.trim())
  const listed = newToken()
  const errors: Error[] = []
  const { verify, close } = await createTokenVerifier(
    { tokens: [listed], tokensFile: path, jwt: { issuer: issuer.url, audience, jwksUrl: issuer.jwksUrl } },
    { load() {}, error: (error) => errors.push(error) },
  )
  t.teardown(close)
  const app = await serveDocument(scopedDocument, {
    handlers: { read: done, remove: done },
    verifiers: (context) => createVerifiers({ bearer: bearer(verify) }, context),
  })
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })

  const issued = (claims: Record<string, unknown>) => key.token({ claims })
  const cases: [token: string | undefined, read: number, remove: number][] = [
    [writer, 204, 204],
    [reader, 204, 403],
    [former, 204, 403],
    [listed, 204, 403],
    [issued({ scope: 'plants:write plants:read' }), 204, 204],
    [issued({ scp: ['plants:read', 'plants:write'] }), 204, 204],
    [issued({ scope: 'plants:read' }), 204, 403],
    [issued({}), 204, 403],
    [newToken(), 401, 401],
  ]
  for (const [token, read, remove] of cases) {
    const call = (method: string) =>
      httpRequest(`${url}/plants`, { method, headers: { authorization: `Bearer ${token}` } })
    t.equal((await call('GET')).status, read)
    const { status, headers, body } = await call('DELETE')
    t.equal(status, remove)
    if (status !== 403) continue
    t.same(JSON.parse(body), {
      error: 40300,
      message: 'a scope is missing; the operation needs plants:write plants:read',
    })
    const challenge = 'Bearer realm="plant-store", error="insufficient_scope", scope="plants:write plants:read"'
    t.equal(headers['www-authenticate'], challenge)
  }
  t.same(errors, [])
})

const refused = (error: Error): Verifier => {
  return (_request, done) => done(error)
}
const rejection = (kind: ErrorName, challenge?: string) =>
  new ContractError(kind, kind, challenge === undefined ? {} : { 'www-authenticate': challenge })
const client = { name: 'gardener', scopes: ['read', 'write'] }

const missing = rejection('missingToken', 'Bearer realm="r"')
const keyless = rejection('missingToken')
const invalid = rejection('invalidToken', 'Basic realm="r"')
const scopeless = rejection('insufficientScope')
const limited = rejection('tooManyRequests')
const failed = rejection('internal')
const unavailable = Object.assign(new Error('the issuer is away'), { retryAfter: 1 })
const verifiers: Verifiers = {
  missing: refused(missing),
  keyless: refused(keyless),
  invalid: refused(invalid),
  scopeless: refused(scopeless),
  limited: refused(limited),
  failed: refused(failed),
  unavailable: refused(unavailable),
  client: (_request, done) => done(undefined, client),
  nobody: (_request, done) => done(),
}

/** Checks a request against the security requirements of an operation and returns the outcome. */
function ask(requirements: Record<string, string[]>[], given = verifiers) {
  let told: { rejection?: Error | undefined; name?: string | undefined } = {}
  const finish = (rejection?: Error, client?: Client) => {
    told = { rejection, name: client?.name }
  }
  authenticator(requirements, given)({} as FastifyRequest, finish, {} as FastifyReply)
  return told
}

t.test('the client is reported with the first security scheme that has identified one', async (t) => {
  const named = { client: verifiers.client as Verifier, second: verifiers.client as Verifier }
  const schemeOf = (requirements: Record<string, string[]>[]) => {
    let found: string | undefined
    const finish = (_rejection?: Error, _client?: Client, scheme?: string) => {
      found = scheme
    }
    authenticator(requirements, { ...verifiers, ...named })({} as FastifyRequest, finish, {} as FastifyReply)
    return found
  }
  t.equal(schemeOf([{ second: [] }]), 'second')
  t.equal(schemeOf([{ missing: [] }, { second: ['read'] }]), 'second')
  t.equal(schemeOf([{ nobody: [], second: [], client: [] }]), 'second')
  t.equal(schemeOf([{ missing: [] }, {}]), undefined)
  t.equal(schemeOf([{}, { client: [] }]), 'client')
})

t.test('of two rejections the more specific one is returned', async (t) => {
  const heavier = [missing, invalid, scopeless, limited, failed, unavailable]
  const names = ['missing', 'invalid', 'scopeless', 'limited', 'failed', 'unavailable']
  for (const [one, first] of names.entries())
    for (const [other, second] of names.entries()) {
      const { message } = heavier[Math.max(one, other)] as Error
      t.match(ask([{ [first]: [] }, { [second]: [] }]).rejection, { message }, `${first}, ${second}`)
    }
})

t.test('a 401 has one challenge per alternative', async (t) => {
  const challengeOf = (...schemes: string[]) =>
    (ask(schemes.map((scheme) => ({ [scheme]: [] }))).rejection as ContractError).headers['www-authenticate']
  t.equal(challengeOf('missing', 'invalid'), 'Bearer realm="r", Basic realm="r"')
  t.equal(challengeOf('invalid', 'missing', 'invalid'), 'Basic realm="r", Bearer realm="r"')
  t.equal(challengeOf('keyless', 'missing'), 'Bearer realm="r"')
  t.equal(ask([{ keyless: [] }, { keyless: [] }]).rejection, keyless)
  const expired = new ContractError('expired', 'too old', { 'www-authenticate': 'Basic realm="r"' }, 401)
  t.match(
    ask([{ expired: [] }, { missing: [] }], { ...verifiers, expired: refused(expired) }).rejection,
    { kind: 'expired', statusCode: 401 },
    'a kind of a verifier keeps its status',
  )
  t.equal(ask([{ missing: [] }, { limited: [] }]).rejection, limited, 'no other status has a challenge')
})

t.test('a client without a required scope is rejected, whatever its verifier does', async (t) => {
  for (const scheme of ['client', 'nobody'])
    t.match(
      ask([{ [scheme]: ['read', 'delete'] }]).rejection,
      { kind: 'insufficientScope', statusCode: 403, headers: {} },
      scheme,
    )
  t.same(ask([{ client: ['read', 'write'] }]), { rejection: undefined, name: 'gardener' })
  t.match(ask([{ client: ['delete'] }]).rejection, { message: 'a scope is missing; the operation needs delete' })
})

t.test('each alternative, and each scheme of a combination, has its own scopes', async (t) => {
  t.match(ask([{ client: ['delete'] }, { client: ['write'] }]), { rejection: undefined, name: 'gardener' })
  t.match(ask([{ client: ['delete'] }, { missing: [] }]).rejection, { statusCode: 403 })
  t.match(ask([{ missing: [] }, { client: ['delete'] }]), { rejection: { statusCode: 403 }, name: 'gardener' })
  t.match(ask([{ client: ['write'], nobody: [] }]), { rejection: undefined, name: 'gardener' })
  t.match(ask([{ nobody: [], client: ['delete'] }]).rejection, { statusCode: 403 })
  t.match(ask([{ client: ['write'], nobody: ['write'] }]).rejection, { statusCode: 403 })
  t.match(ask([{ client: [], limited: [] }]), { rejection: limited, name: 'gardener' })
  t.match(ask([{ client: ['delete'], missing: [] }]), { rejection: { statusCode: 403 }, name: 'gardener' })
})

t.test('a verifier receives the scopes', async (t) => {
  const seen: (readonly string[])[] = []
  const key: Verifier = (_request, done, scopes) => {
    seen.push(scopes)
    done(undefined, client)
  }
  ask([{ key: ['read'] }], { key })
  ask([{ key: [] }], { key })
  t.same(seen, [['read'], []])
})

t.test('optional credentials identify the client, whatever the order of the alternatives', async (t) => {
  const anonymous = { rejection: undefined, name: undefined }
  for (const order of [(requirement: object) => [{}, requirement], (requirement: object) => [requirement, {}]] as ((
    requirement: object,
  ) => Record<string, string[]>[])[]) {
    t.same(ask(order({ client: [] })), { rejection: undefined, name: 'gardener' }, 'valid credentials')
    t.same(ask(order({ missing: [] })), anonymous, 'no credentials')
    t.same(ask(order({ invalid: [] })), { rejection: invalid, name: undefined }, 'wrong credentials')
    t.match(ask(order({ client: ['delete'] })), { rejection: { statusCode: 403 } }, 'a missing scope')
    t.same(ask(order({ client: [], missing: [] })), { rejection: missing, name: 'gardener' }, 'half of the credentials')
    t.same(ask(order({ missing: [], client: [] })), { rejection: missing, name: 'gardener' }, 'the other half')
    t.same(ask(order({ missing: [], invalid: [] })), { rejection: invalid, name: undefined }, 'half of them, wrong')
    t.same(ask(order({ missing: [], keyless: [] })), anonymous, 'neither half')
    t.same(ask(order({ unavailable: [] })).rejection, unavailable, 'credentials that cannot be checked')
  }
  t.same(ask([{ missing: [] }, {}, { client: [] }]), { rejection: undefined, name: 'gardener' })
  t.match(ask([{ missing: [] }, {}, { invalid: [] }]), { rejection: { kind: 'invalidToken' } })
  t.same(ask([{ invalid: [] }, { client: [] }]), { rejection: undefined, name: 'gardener' })
  for (const requirements of [[], [{}], [{ missing: [] }, {}, { keyless: [] }]])
    t.same(ask(requirements as Record<string, string[]>[]), anonymous)
})

t.test('the scopes of all operations are listed once each', async (t) => {
  const operations = [
    { security: [{ bearer: ['read'] }, { key: [] }] },
    { security: [{ bearer: ['read', 'write'], key: ['prune'] }] },
    { security: [] },
  ]
  t.same(requiredScopes(operations), ['read', 'write', 'prune'])
  t.same(requiredScopes([]), [])
})

const guest = { name: 'gardener', scopes: [] }
const paths = {
  '/either': [{ token: [] }, { password: [] }],
  '/both': [{ token: [], key: [] }],
  '/optional': [{ token: [] }, {}],
  '/scoped': [{ token: ['write'] }],
}
const alternatives = {
  openapi: '3.1.0',
  info: { title: 'Test', version: '1.0.0' },
  components: {
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer' },
      password: { type: 'http', scheme: 'basic' },
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    },
  },
  paths: Object.fromEntries(
    Object.entries(paths).map(([path, security]) => [
      path,
      { get: { operationId: path.slice(1), security, responses: { 204: { description: 'Done.' } } } },
    ]),
  ),
}
const handlers = { either: done, both: done, optional: done, scoped: done }

const good = { authorization: 'Bearer good' }
const wrong = { authorization: 'Bearer wrong' }

/** Serves operations with several schemes and limits per minute. `costly` lists which verifications may cost time. */
async function serve({ failures = 0, requests = 0 }) {
  const costly: boolean[] = []
  const verify = (token: string, may = () => true) => {
    costly.push(may())
    return token === 'good' ? guest : undefined
  }
  const verifiers = (context: VerifierContext) =>
    createVerifiers(
      {
        token: bearer(verify),
        password: basic(({ password }, may) => verify(password, may)),
        key: apiKey({ in: 'header', name: 'X-Key' }, verify),
      },
      context,
    )
  const app = await serveDocument(alternatives, { handlers, verifiers, limits: { authFailures: failures, requests } })
  const get = async (url: string, headers: Record<string, string>) => (await app.inject({ url, headers })).statusCode
  return { get, costly }
}

t.test('a request that one scheme accepts counts no failure', async (t) => {
  const { get } = await serve({ failures: 1 })
  const basic = { authorization: `Basic ${btoa('a:good')}` }
  for (const headers of [basic, basic, good, basic]) t.equal(await get('/either', headers), 204)
  t.equal(await get('/either', wrong), 401, 'the first failure')
  t.equal(await get('/either', wrong), 429)
  t.equal(await get('/either', basic), 204, 'valid credentials bypass the limit')
})

t.test('a request that several schemes reject counts one failure', async (t) => {
  const { get, costly } = await serve({ failures: 2 })
  t.same([await get('/either', {}), await get('/either', wrong), await get('/either', wrong)], [401, 401, 429])
  t.same(costly, [true, false], 'beyond the limit, verifiers do no expensive work')
})

t.test('a request with two credentials counts once for its client', async (t) => {
  const { get } = await serve({ requests: 2 })
  const both = { ...good, 'x-key': 'good' }
  t.same([await get('/both', both), await get('/both', both), await get('/both', both)], [204, 204, 429])
})

t.test('a request without the scope counts for its client, and gets 429 over the limit', async (t) => {
  const { get } = await serve({ failures: 1, requests: 2 })
  t.same([await get('/scoped', good), await get('/scoped', good), await get('/scoped', good)], [403, 403, 429])
})

t.test('wrong optional credentials count as failures, missing ones do not', async (t) => {
  const { get } = await serve({ failures: 1 })
  for (const _ of [1, 2]) t.equal(await get('/optional', {}), 204)
  t.equal(await get('/either', wrong), 401)
  const other = await serve({ failures: 1 })
  for (const status of [401, 429]) t.equal(await other.get('/optional', wrong), status)
  t.equal(await other.get('/either', wrong), 429)
  t.same(other.costly, [true, false, false])
})
