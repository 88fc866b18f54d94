import { appendFileSync } from 'node:fs'
import { request, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientNames } from 'fastify-contract-test-support/client-names'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { audience, createKey, startIssuer } from 'fastify-contract-test-support/issuer'
import { until } from 'fastify-contract-test-support/poll'
import { replaceTokenFile, tokenFileText, writeTokenFile } from 'fastify-contract-test-support/token-files'
import t, { type Test } from 'tap'
import { JwksUnavailable, jwtVerifier, type KeyTimes } from '../../packages/fastify-contract/src/auth/jwt.ts'
import { createTokenVerifier, watchTokenFile } from '../../packages/fastify-contract/src/auth/token-verifier.ts'
import { newToken, type VerifyToken } from '../../packages/fastify-contract/src/auth/tokens.ts'
import { authorization, createTestApp, token } from '../support/test-app.ts'

const plant = { id: 1, name: 'Monstera' }
/** The Bearer challenge comes after the challenges of other schemes, if the contract has some. */
const challenge = /(^|, )Bearer realm="plant-store"$/
const challengeOfWrong = /(^|, )Bearer realm="plant-store", error="invalid_token"$/

t.test('the scheme is case-insensitive, the token is not', async (t) => {
  const { create } = await createTestApp(t)
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer '])
    t.equal((await create(plant, { authorization: `${scheme} ${token}` })).status, 200)
})

t.test('a missing token gets a challenge without an error code', async (t) => {
  const { create } = await createTestApp(t)
  for (const missing of [undefined, '', 'Bearer', 'Bearer ', token, `Basic ${token}`, `Bearer${token}`]) {
    const { status, headers, body } = await create(plant, { authorization: missing })
    t.same([status, body.error], [401, 40100])
    t.match(headers['www-authenticate'], challenge)
  }
})

t.test('every invalid token gets the same response', async (t) => {
  const { create, log } = await createTestApp(t)
  const wrong = [`Bearer ${token}x`, `Bearer ${token} x`, 'Bearer x', 'Bearer \u00a0', `Bearer "${token}"`]
  for (const authorization of wrong) {
    const { status, headers, body } = await create(plant, { authorization })
    t.equal(status, 401)
    t.match(headers['www-authenticate'], challengeOfWrong)
    t.same(body, { error: 40101, message: 'the access token is not valid' })
  }
  t.same(log, [])
})

t.test('a failing verifier gets 500', async (t) => {
  const { create, log } = await createTestApp(t, {
    verifyToken: () => {
      throw new Error('no tokens')
    },
  })
  const { status, body } = await create(plant, { authorization })
  t.same([status, body.error], [500, 50000])
  t.match(log.join(''), /no tokens/)
  t.notMatch(log.join(''), token)
})

t.test('under load a revoked token gets 401 within two seconds, and other requests are unaffected', async (t) => {
  const [kept, revoked] = [newToken(), newToken()]
  const path = writeTokenFile(t, ['kept', kept], ['revoked', revoked])
  const errors: Error[] = []
  const { verify, close } = await watchTokenFile(path, { load() {}, error: (error) => errors.push(error) })
  t.teardown(close)
  const { listen } = await createTestApp(t, { verifyToken: verify })
  const url = `http://127.0.0.1:${await listen()}/plants`
  let ended = false
  /** Sends create requests one after the other and appends the status of each response to a list. */
  const load = async (token: string, statuses: number[]) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    while (!ended)
      statuses.push((await httpRequest(url, { method: 'POST', headers, body: '{"id":1,"name":"a"}' })).status)
  }
  const [ofKept, ofRevoked]: [number[], number[]] = [[], []]
  const loads = Promise.all([load(kept, ofKept), load(kept, ofKept), load(kept, ofKept), load(revoked, ofRevoked)])
  const answered = (count: number) =>
    until(() => ofKept.length >= count && ofRevoked.length >= count, `${count} answers for each token`)

  await answered(50)
  t.same(new Set(ofRevoked), new Set([200]))
  replaceTokenFile(path, tokenFileText(['kept', kept]))
  await until(() => ofRevoked.includes(401), 'the revoked token is refused', 2_000)
  await answered(Math.max(ofKept.length, ofRevoked.length) + 50)
  ended = true
  await loads
  t.same(errors, [])

  t.same(new Set(ofKept), new Set([200]))
  const first = ofRevoked.indexOf(401)
  t.same(new Set(ofRevoked.slice(0, first)), new Set([200]))
  t.same(new Set(ofRevoked.slice(first)), new Set([401]))
})

const nobody = { load() {}, error() {} }

t.test('tokens of a list, of a file and of an issuer are accepted together', async (t) => {
  const issuer = await startIssuer(t)
  const key = createKey(issuer.url)
  issuer.serve('/keys', { keys: [key.jwk] })
  const [listed, filed] = [newToken(), newToken()]
  const { verify, close } = await createTokenVerifier(
    {
      tokens: [listed],
      scopes: ['plants:write'],
      tokensFile: writeTokenFile(t, ['gardener', filed]),
      jwt: { issuer: issuer.url, audience, jwksUrl: issuer.jwksUrl },
    },
    nobody,
  )
  t.teardown(close)
  t.same(verify(listed), { name: 'access-token-1', scopes: ['plants:write'] })
  t.same(verify(filed), { name: 'gardener', scopes: [] })
  t.equal(verify(newToken()), undefined)
  t.same(await verify(key.token()), { name: 'gardener', scopes: [], subject: 'subject' })

  const { create } = await createTestApp(t, { verifyToken: verify })
  const status = async (token: string) =>
    (await create({ id: 1, name: 'a' }, { authorization: `Bearer ${token}` })).status
  t.same([await status(listed), await status(filed), await status(key.token())], [200, 200, 200])
  t.same([await status(newToken()), await status(key.token({ claims: { aud: 'others' } }))], [401, 401])
})

t.test('events of the token file are passed on', async (t) => {
  const path = writeTokenFile(t, ['gardener', newToken()])
  const told: (number | Error)[] = []
  const on = { load: (clients: number) => told.push(clients), error: (error: Error) => told.push(error) }
  const { close } = await createTokenVerifier({ tokens: [], tokensFile: path, jwt: undefined }, on)
  t.teardown(close)
  t.same(told, [1])
  appendFileSync(path, 'broken')
  await until(() => told.length > 1, 'the broken file is told of')
  t.match(told.slice(1), [{ message: /^not valid JSON: [^\n]+$/ }])
  t.equal(told.length, 2)
})

t.test('an unusable file is rejected by name', async (t) => {
  const create = (tokensFile: string) => createTokenVerifier({ tokens: [], tokensFile, jwt: undefined }, nobody)
  const missing = 'the file does not exist; create it with a first token, or name another file'
  await t.rejects(create('/nowhere/tokens.json'), { message: `TOKENS_FILE is "/nowhere/tokens.json": ${missing}` })
  await t.rejects(create('/'), { message: 'TOKENS_FILE is "/": not a regular file' })
})

t.test('close without a token file does nothing', async (t) => {
  const { verify, close } = await createTokenVerifier({ tokens: [], tokensFile: undefined, jwt: undefined }, nobody)
  t.equal(verify(newToken()), undefined)
  close()
})

const client = 'gardener'

/** Starts an issuer with one key, and returns a verifier whose clock, in milliseconds, the test controls. */
async function watched(t: Test, options: KeyTimes & { discovered?: boolean } = {}) {
  const { discovered = false, ...times } = options
  const issuer = await startIssuer(t)
  const { url } = issuer
  const clock = { now: 0 }
  const verifyToken = jwtVerifier({
    issuer: url,
    audience,
    jwksUrl: discovered ? undefined : issuer.jwksUrl,
    times: { now: () => clock.now, ...times },
  })
  const verify = clientNames(verifyToken)
  const publish = (...keys: ReturnType<typeof createKey>[]) =>
    issuer.serve('/keys', { keys: keys.map(({ jwk }) => jwk) })
  const key = createKey(url)
  publish(key)
  const unavailable = (token: string, seconds: number) =>
    t.rejects(Promise.resolve(verify(token)), { name: 'JwksUnavailable', retryAfter: seconds })
  return { issuer, key, verify, verifyToken, publish, unavailable, clock }
}

t.test('concurrent requests share one fetch', async (t) => {
  const { issuer, key, verify } = await watched(t)
  t.same(issuer.asked, [], 'no fetch before the first token')
  const clients = await Promise.all(Array.from({ length: 50 }, () => verify(key.token())))
  t.same(new Set(clients), new Set([client]))
  t.same(issuer.asked, ['/keys'])
})

t.test('a token with an unknown key ID triggers a fetch; removed keys are dropped', async (t) => {
  const { issuer, key, verify, publish, clock } = await watched(t)
  t.equal(await verify(key.token()), client)
  const second = createKey(issuer.url, { kid: 'two' })
  publish(key, second)
  t.equal(await verify(second.token()), undefined, 'no fetch so soon after the last one')
  clock.now += 10_000
  t.equal(await verify(second.token()), client)
  t.equal(await verify(key.token()), client, 'both keys are valid while both are published')
  publish(second)
  t.equal(await verify(key.token()), client, 'a request does not fetch the key set again')
  clock.now += 300_000
  t.equal(await verify(key.token()), undefined)
  t.equal(await verify(second.token()), client)
})

t.test('tokens without a known key ID cause few fetches', async (t) => {
  const { issuer, key, verify, clock } = await watched(t)
  const names = Array.from({ length: 100 }, (_, index) => key.token({ header: { kid: String(index) } }))
  for (const token of names) t.equal(await verify(token), undefined)
  t.equal(issuer.asked.length, 1)
  clock.now += 10_000
  t.same(new Set(await Promise.all(names.map((token) => verify(token)))), new Set([undefined]))
  t.equal(issuer.asked.length, 2)
})

t.test('a token without a key ID is accepted once only one key fits', async (t) => {
  const { issuer, key, verify, publish, unavailable, clock } = await watched(t)
  const second = createKey(issuer.url, { kid: 'two' })
  const nameless = second.token({ header: { kid: undefined } })
  publish(key, second)
  t.equal(await verify(nameless), undefined)
  issuer.goDown(true)
  clock.now += 10_000
  await unavailable(nameless, 10)
  issuer.goDown(false)
  publish(second)
  clock.now += 10_000
  t.equal(await verify(nameless), client)
})

t.test('a token gets 503 until the issuer has been reached once', async (t) => {
  const { issuer, key, verify, unavailable, clock } = await watched(t)
  issuer.goDown(true)
  await Promise.all(Array.from({ length: 10 }, () => unavailable(key.token(), 10)))
  clock.now += 4_000
  await unavailable(key.token(), 6)
  t.equal(issuer.asked.length, 1, 'the verifier waits before the next fetch')
  t.equal(verify('opaque'), undefined, 'an opaque token needs no key')
  t.equal(await verify(key.token({ header: { alg: 'HS256' } })), undefined, 'another algorithm needs no key')
  issuer.goDown(false)
  clock.now += 6_000
  t.equal(await verify(key.token()), client)
})

t.test('cached keys outlive an unreachable issuer for a limited time', async (t) => {
  const { issuer, key, verify, publish, unavailable, clock } = await watched(t)
  t.equal(await verify(key.token()), client)
  issuer.goDown(true)
  const second = createKey(issuer.url, { kid: 'two' })
  t.equal(await verify(second.token()), undefined, 'a key set that was just fetched is not fetched again')
  clock.now += 10_000
  await unavailable(second.token(), 10)
  for (clock.now = 300_000; clock.now < 3_600_000; clock.now += 300_000)
    t.equal(await verify(key.token()), client, `keys that are ${clock.now} ms old`)
  clock.now = 3_600_000
  await unavailable(key.token(), 10)
  issuer.goDown(false)
  publish(second)
  clock.now += 10_000
  t.equal(await verify(second.token()), client)
  t.equal(await verify(key.token()), undefined)
  publish(key)
  clock.now += 300_000
  t.equal(await verify(second.token()), undefined, 'after a recovery, an old key set is fetched again before its use')
})

t.test('a hanging issuer is abandoned after a timeout', async (t) => {
  const { issuer, key, verify, unavailable, clock } = await watched(t, { timeout: 100 })
  issuer.serve('/keys', () => {})
  await unavailable(key.token(), 10)
  issuer.serve('/keys', (_, response) => response.write('{"keys":['))
  clock.now += 10_000
  await unavailable(key.token(), 10)
  issuer.serve('/keys', { keys: [key.jwk] })
  clock.now += 10_000
  t.equal(await verify(key.token()), client)
  issuer.serve('/keys', () => {})
  clock.now += 300_000
  t.equal(await verify(key.token()), client, 'after the timeout, the last keys are used')
})

t.test('after the cooldown the keys are fetched in the background, while cached keys verify tokens', async (t) => {
  const { issuer, key, verify, clock } = await watched(t)
  t.equal(await verify(key.token()), client)
  issuer.goDown(true)
  clock.now += 300_000
  t.equal(await verify(key.token()), client)
  issuer.goDown(false)
  const asked = new Promise((resolve) => issuer.serve('/keys', resolve))
  clock.now += 10_000
  t.equal(await Promise.race([verify(key.token()), sleep(1_000)]), client)
  t.ok(await asked, 'the verifier fetches the keys again')
})

t.test('a response that is not a JWKS changes nothing', async (t) => {
  const { issuer, key, verify, unavailable, clock } = await watched(t)
  t.equal(await verify(key.token()), client)
  const second = createKey(issuer.url, { kid: 'two' })
  const set = { keys: [second.jwk] }
  const garbage = ['', '<html>', 'null', '[]', '{}', '{"keys":{}}', '{"keys":[null]}', '{"keys":"one"}']
  const large = JSON.stringify({ ...set, more: 'x'.repeat(2 ** 18) })
  for (const text of [...garbage, large]) {
    issuer.serve('/keys', text)
    clock.now += 10_000
    await unavailable(second.token(), 10)
    t.equal(await verify(key.token()), client, text.slice(0, 20))
  }
  for (const status of [201, 302, 401, 500]) {
    issuer.serve('/keys', (_, response) => response.writeHead(status, { location: '/other' }).end(JSON.stringify(set)))
    clock.now += 10_000
    await unavailable(second.token(), 10)
  }
  t.notOk(issuer.asked.includes('/other'), 'redirects are not followed')
})

t.test('without keys a token gets 503, with them an invalid one gets 401', async (t) => {
  const { issuer, key, verifyToken, clock } = await watched(t)
  const { create, log } = await createTestApp(t, { verifyToken })
  const authorization = `Bearer ${key.token()}`
  issuer.goDown(true)
  const answer = await create({ id: 1, name: 'Monstera' }, { authorization })
  t.match(answer, { status: 503, headers: { 'retry-after': '10' }, body: { error: 50300 } })
  t.match(log.join(''), 'the keys of the issuer cannot be fetched')
  t.notMatch(log.join(''), authorization.slice(7), 'the log has no token')
  issuer.goDown(false)
  clock.now += 10_000
  t.equal((await create({ id: 1, name: 'Monstera' }, { authorization })).status, 200)
  const wrong = `Bearer ${key.token({ header: { typ: 'JWT' } })}`
  t.equal((await create({ id: 2, name: 'Monstera' }, { authorization: wrong })).status, 401)
})

t.test('an address over its failure limit triggers no verification; cached tokens stay valid', async (t) => {
  const { key, verifyToken: verify } = await watched(t)
  let asked = 0
  const verifyToken: VerifyToken = (token, withinFailureLimit) => {
    const found = verify(token, withinFailureLimit)
    if (found instanceof Promise) asked++
    return found
  }
  const { create } = await createTestApp(t, { verifyToken, limits: { authFailures: 2 } })
  const status = async (token: string) =>
    (await create({ id: 1, name: 'Monstera' }, { authorization: `Bearer ${token}` })).status
  const known = key.token()
  const forged = () => `${key.token().slice(0, -4)}AAAA`
  t.equal(await status(known), 200)
  t.same([await status(forged()), await status(forged()), await status(forged())], [401, 401, 429])
  t.equal(asked, 3)
  t.equal(await status(key.token()), 429, 'an unverified token of a limited address')
  t.equal(await status(known), 200)
})

t.test('a token larger than the header limit is not verified', async (t) => {
  const { issuer, key, verifyToken } = await watched(t)
  const { listen } = await createTestApp(t, { verifyToken })
  const authorization = `Bearer ${key.token({ claims: { more: 'x'.repeat(16_384) } })}`
  const port = await listen()
  const status = await new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/plants', method: 'POST', headers: { authorization } })
      .on('response', (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
  })
  t.equal(status, 431)
  t.same(issuer.asked, [])
})

t.test('the error message leaves out the query of a URL', async (t) => {
  const issuer = await startIssuer(t)
  const key = createKey(issuer.url)
  const verify = clientNames(jwtVerifier({ issuer: issuer.url, audience, jwksUrl: `${issuer.jwksUrl}?code=secret` }))
  const error = await Promise.resolve(verify(key.token())).catch((error) => error)
  t.ok(error instanceof JwksUnavailable)
  t.equal(error.cause.message, `${issuer.jwksUrl} responds with status 404`)
})

t.test('concurrent verifications are limited', async (t) => {
  const { issuer, key, verify } = await watched(t)
  const held = new Promise<ServerResponse>((resolve) => issuer.serve('/keys', (_, response) => resolve(response)))
  const token = key.token()
  const waiting = Array.from({ length: 1_000 }, () => verify(token))
  await t.rejects(Promise.resolve(verify(token)), { message: 'too many tokens are being verified', retryAfter: 1 })
  t.equal(await verify('no-token'), undefined, 'a token that is not a JWT does not wait')
  const response = await held
  response.end(JSON.stringify({ keys: [key.jwk] }))
  t.same(new Set(await Promise.all(waiting)), new Set([client]))
  t.equal(await verify(key.token()), client)
})
