import t, { type Test } from 'tap'
import { clientNames } from '../../../../test/support/client-names.ts'
import { audience, createKey, startIssuer } from '../../../../test/support/issuer.ts'
import { jwtVerifier } from '../../src/auth/jwt.ts'

const client = 'gardener'
const timeout = 2_000

/** Starts an issuer with a path. `accepts` verifies one of its tokens with a verifier that knows only its URL. */
async function named(t: Test, path: string) {
  const server = await startIssuer(t)
  const issuer = server.url + path
  const key = createKey(issuer)
  server.serve('/keys', { keys: [key.jwk] })
  const metadata = { issuer, jwks_uri: server.jwksUrl }
  const accepts = async () =>
    await clientNames(jwtVerifier({ issuer, audience, jwksUrl: undefined, times: { timeout } }))(key.token())
  return { server, metadata, accepts }
}

t.test('metadata is found at the RFC 8414 or the OpenID Connect location', async (t) => {
  const places = [
    ['', '/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'],
    ['/', '/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'],
    ['/a/b', '/.well-known/oauth-authorization-server/a/b', '/a/b/.well-known/openid-configuration'],
    ['/a/b/', '/.well-known/oauth-authorization-server/a/b', '/a/b/.well-known/openid-configuration'],
  ] as const
  for (const [path, oauth, openid] of places) {
    const { server, metadata, accepts } = await named(t, path)
    server.serve(openid, metadata)
    t.equal(await accepts(), client)
    t.same(server.asked, [oauth, openid, '/keys'])
    server.serve(oauth, metadata)
    server.asked.length = 0
    t.equal(await accepts(), client)
    t.same(server.asked, [oauth, '/keys'])
  }
})

t.test('metadata of another issuer or with an unsafe JWKS URL is rejected', async (t) => {
  const { server, metadata, accepts } = await named(t, '/a')
  const oauth = '/.well-known/oauth-authorization-server/a'
  const openid = '/a/.well-known/openid-configuration'
  const { issuer, jwks_uri } = metadata
  const foreign = [server.url, `${issuer}/`, 'https://issuer.example', '', [issuer], undefined]
  const unsafe = ['http://issuer.example/keys', 'file:///keys', '/keys', '', [jwks_uri], undefined]
  for (const wrong of [
    ...foreign.map((issuer) => ({ issuer, jwks_uri })),
    ...unsafe.map((jwks_uri) => ({ issuer, jwks_uri })),
    'null',
    '[]',
    '<html>',
  ]) {
    server.serve(oauth, wrong)
    server.serve(openid, wrong)
    await t.rejects(accepts(), { name: 'JwksUnavailable', cause: { name: 'AggregateError', errors: { length: 2 } } })
  }
  t.notOk(server.asked.includes('/keys'))
  server.serve(openid, metadata)
  t.equal(await accepts(), client, 'the second metadata URL is fetched, too')
})

t.test('the issuer may change its JWKS URL', async (t) => {
  const { server, metadata } = await named(t, '')
  const { issuer } = metadata
  const key = createKey(issuer, { kid: 'moved' })
  server.serve('/.well-known/openid-configuration', metadata)
  let now = 0
  const verify = clientNames(jwtVerifier({ issuer, audience, jwksUrl: undefined, times: { now: () => now } }))
  t.equal(await verify(key.token()), undefined)
  server.serve('/moved', { keys: [key.jwk] })
  server.serve('/.well-known/openid-configuration', { issuer, jwks_uri: `${server.url}/moved` })
  now += 10_000
  t.equal(await verify(key.token()), client)
})
