import { appendFileSync } from 'node:fs'
import t from 'tap'
import { createTokenVerifier } from '../../packages/fastify-contract/src/auth/token-verifier.ts'
import { newToken } from '../../packages/fastify-contract/src/auth/tokens.ts'
import { until } from '../../scripts/system/poll.ts'
import { audience, createKey, startIssuer } from '../support/issuer.ts'
import { createTestApp } from '../support/test-app.ts'
import { writeTokenFile } from '../support/token-files.ts'

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
