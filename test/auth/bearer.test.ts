import { appendFileSync } from 'node:fs'
import t from 'tap'
import { createTokenVerifier, watchTokenFile } from '../../packages/fastify-contract/src/auth/token-verifier.ts'
import { newToken } from '../../packages/fastify-contract/src/auth/tokens.ts'
import { until } from '../../scripts/system/poll.ts'
import { httpRequest } from '../support/http-request.ts'
import { audience, createKey, startIssuer } from '../support/issuer.ts'
import { authorization, createTestApp, token } from '../support/test-app.ts'
import { replaceTokenFile, tokenFileText, writeTokenFile } from '../support/token-files.ts'

const plant = { id: 1, name: 'Monstera' }
/** The Bearer challenge comes after the challenges of other schemes, if the contract has some. */
const challenge = /(^|, )Bearer realm="plant-store"$/
const challengeOfWrong = /(^|, )Bearer realm="plant-store", error="invalid_token"$/

t.test('the scheme is case-insensitive, the token is not', async (t) => {
  const { create } = await createTestApp(t)
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer ']) {
    t.equal((await create(plant, { authorization: `${scheme} ${token}` })).status, 200)
  }
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
    while (!ended) {
      statuses.push((await httpRequest(url, { method: 'POST', headers, body: '{"id":1,"name":"a"}' })).status)
    }
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
  t.same(await verify(key.token()), { name: 'gardener', scopes: [] })

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
