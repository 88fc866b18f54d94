import { createHmac } from 'node:crypto'
import { clientNames } from 'fastify-contract-test-support/client-names'
import { audience, createKey, encode, seconds, startIssuer } from 'fastify-contract-test-support/issuer'
import t, { type Test } from 'tap'
import { createJwtCache, type JwtOptions, jwtVerifier } from '../../src/auth/jwt.ts'
import { isIssuer, isKeySource } from '../../src/auth/tokens.ts'

const client = 'gardener'

/** Starts an issuer with one key, and returns a verifier that trusts it. */
async function trusted(t: Test, options: Parameters<typeof createKey>[1] = {}) {
  const issuer = await startIssuer(t)
  const key = createKey(issuer.url, options)
  issuer.serve('/keys', { keys: [key.jwk] })
  const { url, jwksUrl } = issuer
  const verify = clientNames(jwtVerifier({ issuer: url, audience, jwksUrl }))
  t.equal(await verify(key.token()), client)
  return { issuer, key, verify }
}

t.test('a token of the issuer identifies its client', async (t) => {
  for (const algorithm of ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']) {
    const { key, verify } = await trusted(t, { algorithm })
    t.equal(await verify(key.token()), client, algorithm)
    t.equal(await verify(key.token({ header: { kid: undefined } })), client, 'a token without kid uses the only key')
    t.equal(await verify(key.token({ claims: { aud: ['https://other.example', audience] } })), client)
  }
  const { key, verify } = await trusted(t, { algorithm: 'Ed25519' })
  t.equal(await verify(key.token()), client, 'RFC 9864 names EdDSA after its curve')
  t.equal(await verify(key.token({ header: { typ: 'application/at+jwt' } })), client)
})

t.test('text that is not a JWT is rejected at once', async (t) => {
  const { issuer, key, verify } = await trusted(t)
  const [header, claims, signature] = key.token().split('.')
  const others = ['', 'opaque', 'plant_0123456789', 'e.e', 'e..e', `${header}.${claims}`, `${header}.${claims}.`]
  const encrypted = `${header}.${claims}.${signature}.${signature}.${signature}`
  for (const other of [...others, encrypted, `x${key.token()}`, `${key.token()}=`, ` ${key.token()}`])
    t.equal(verify(other), undefined, other)
  t.same(issuer.asked, ['/keys'])
})

t.test('only public-key algorithms are accepted', async (t) => {
  const { key, verify } = await trusted(t, { algorithm: 'RS256' })
  const [, claims] = key.token().split('.')
  const unsigned = `${encode({ alg: 'none', typ: 'at+jwt', kid: 'one' })}.${claims}`
  for (const signature of ['', 'AA']) t.equal(await verify(`${unsigned}.${signature}`), undefined, 'alg none')

  const secrets = [
    key.publicKey.export({ type: 'spki', format: 'pem' }),
    key.publicKey.export({ type: 'spki', format: 'der' }),
    JSON.stringify(key.jwk),
    key.jwk.n as string,
  ]
  for (const secret of secrets) {
    const input = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: 'one' })}.${claims}`
    const signature = createHmac('sha256', secret).update(input).digest('base64url')
    t.equal(await verify(`${input}.${signature}`), undefined, 'the public key as a secret')
  }
  for (const alg of ['None', 'nOnE', 'rs256', 'RS1', 'dir', '__proto__', 7, null, ['RS256']])
    t.equal(await verify(key.token({ header: { alg } })), undefined, `alg ${alg}`)
})

t.test('a token with a changed part is rejected', async (t) => {
  const { issuer, key, verify } = await trusted(t)
  const [header, claims, signature = ''] = key.token().split('.')
  const [, stronger] = key.token({ claims: { client_id: 'administrator' } }).split('.')
  t.equal(await verify(`${header}.${stronger}.${signature}`), undefined, 'another payload')
  t.equal(
    await verify(`${encode({ alg: 'ES256', typ: 'at+jwt' })}.${claims}.${signature}`),
    undefined,
    'another header',
  )
  t.equal(await verify(`${header}.${claims}.${signature.slice(0, -8)}`), undefined, 'a truncated signature')
  t.equal(await verify(`${header}.${claims}.${'A'.repeat(86)}`), undefined, 'the signature of CVE-2022-21449')
  t.equal(await verify(`e30.e30.${signature}`), undefined)
  t.equal(await verify('eeee.eeee.eeee'), undefined)

  const other = createKey(issuer.url)
  t.equal(await verify(other.token()), undefined, 'another key with the same kid')
  const rsa = createKey(issuer.url, { algorithm: 'RS256' })
  t.equal(await verify(rsa.token()), undefined, 'another type of key with the same kid')
})

t.test('keys inside a token are ignored', async (t) => {
  const { issuer, key, verify } = await trusted(t)
  const stranger = createKey(issuer.url, { kid: 'stranger' })
  issuer.serve('/stranger', { keys: [stranger.jwk] })
  const places = { jku: `${issuer.url}/stranger`, x5u: `${issuer.url}/stranger`, jwk: stranger.jwk, x5c: ['AA'] }
  for (const kid of ['one', 'stranger', undefined])
    t.equal(await verify(stranger.token({ header: { ...places, kid } })), undefined)
  const names = ['../../../dev/null', "one' OR '1'='1", 'one\0', '', `${issuer.url}/stranger`, 1, null, {}, ['one']]
  for (const kid of names)
    t.equal(await verify(stranger.token({ header: { kid } })), undefined, `kid ${JSON.stringify(kid)}`)
  t.equal(await verify(key.token({ header: places })), client, 'the verifier ignores keys and URLs in the header')
  t.same(issuer.asked, ['/keys'])
})

t.test('other token types are rejected', async (t) => {
  const { key, verify } = await trusted(t)
  for (const typ of ['JWT', 'at+jwt+x', 'dpop+jwt', 'logout+jwt', 'secevent+jwt', '', undefined, null, ['at+jwt']])
    t.equal(await verify(key.token({ header: { typ } })), undefined, `typ ${typ}`)
  for (const crit of [['exp'], ['b64'], ['other'], [], 'b64'])
    t.equal(await verify(key.token({ header: { crit, other: 1, exp: 1 } })), undefined, `crit ${crit}`)
  t.equal(await verify(key.token({ header: { crit: ['b64'], b64: false } })), undefined, 'unencoded payload, RFC 7797')
})

t.test('a token with a wrong or missing claim is rejected', async (t) => {
  const { issuer, key, verify } = await trusted(t)
  const now = seconds()
  const wrong: Record<string, unknown[]> = {
    iss: ['https://other.example', `${issuer.url}/`, issuer.url.toUpperCase(), [issuer.url], null, undefined],
    aud: ['https://other.example', `${audience}/`, '', [], [[audience]], { [audience]: 1 }, null, undefined],
    exp: [now - 60, 0, -1, String(now + 600), null, undefined],
    nbf: [now + 60, String(now), null],
    iat: [String(now), null, undefined],
    sub: [7, null, undefined],
    jti: [7, null, undefined],
    client_id: ['', 7, null, undefined, 'a\nb', 'a\u007fb', 'é', 'x'.repeat(201), ['gardener'], { name: 'gardener' }],
  }
  for (const [claim, values] of Object.entries(wrong))
    for (const value of values)
      t.equal(await verify(key.token({ claims: { [claim]: value } })), undefined, `${claim} ${JSON.stringify(value)}`)
  t.equal(await verify(key.token({ claims: { nbf: now + 3, exp: now - 3 } })), client, 'clocks may differ a little')
  t.equal(await verify(key.token({ claims: { client_id: 'x'.repeat(200) } })), 'x'.repeat(200))
})

t.test('a token that is bound to a key is rejected, unless a proxy checks the key', async (t) => {
  const { issuer, key, verify } = await trusted(t)
  const { url, jwksUrl } = issuer
  const accepting = clientNames(jwtVerifier({ issuer: url, audience, jwksUrl, boundTokens: 'accept' }))
  const rejecting = clientNames(jwtVerifier({ issuer: url, audience, jwksUrl, boundTokens: 'reject' }))
  // Confirmation methods of RFC 9449 (DPoP), RFC 8705 (mutual TLS) and RFC 7800, an unknown one, and none.
  const bindings = [{ jkt: 'AA' }, { 'x5t#S256': 'AA' }, { jwk: key.jwk }, { kid: 'one' }, { other: 1 }, {}, 'AA', null]
  for (const cnf of bindings) {
    const token = key.token({ claims: { cnf } })
    t.equal(await verify(token), undefined, JSON.stringify(cnf))
    t.equal(await rejecting(token), undefined, JSON.stringify(cnf))
    t.equal(await accepting(token), client, JSON.stringify(cnf))
  }
  t.equal(await accepting(key.token({ claims: { cnf: {}, aud: 'https://other.example' } })), undefined)
})

t.test('weak keys and keys for other uses are ignored', async (t) => {
  const issuer = await startIssuer(t)
  const { url, jwksUrl } = issuer
  const good = createKey(url, { kid: 'good' })
  const small = createKey(url, { algorithm: 'RS256', kid: 'small', bits: 1024 })
  const key = createKey(url)
  const claims = key.token().split('.')[1]
  const secret = Buffer.alloc(32, 7)
  const input = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: 'secret' })}.${claims}`
  const secretToken = `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
  const useless = [
    { ...key.jwk, kid: 'encryption', use: 'enc' },
    { ...key.jwk, kid: 'other', alg: 'ES384' },
    { ...key.jwk, kid: 'operation', key_ops: ['sign'] },
    { ...key.privateKey.export({ format: 'jwk' }), kid: 'private' },
    { ...key.jwk, kid: 'off the curve', y: key.jwk.x },
    { ...key.jwk, kid: 'twice' },
    { ...good.jwk, kid: 'twice' },
    { kty: 'new', kid: 'unknown' },
    { kid: 'empty' },
  ]
  const keys = [...useless, small.jwk, { kty: 'oct', kid: 'secret', k: secret.toString('base64url') }, good.jwk]
  issuer.serve('/keys', { keys })
  const verify = clientNames(jwtVerifier({ issuer: url, audience, jwksUrl }))
  for (const { kid } of useless) t.equal(await verify(key.token({ header: { kid } })), undefined, `kid ${kid}`)
  t.equal(await verify(small.token()), undefined, 'RSA of 1024 bits')
  t.equal(await verify(secretToken), undefined, 'a symmetric key in the key set')
  t.equal(await verify(good.token()), client, 'a good key in the same set verifies its tokens')
})

t.test('a verified token is cached, but not beyond its expiry', async (t) => {
  const { key, verify } = await trusted(t)
  const [token, late] = [key.token(), key.token({ claims: { exp: seconds() - 3 } })]
  t.equal(await verify(token), client)
  t.equal(verify(token), client, 'the cache has the token')
  t.equal(await verify(late), client)
  t.type(verify(late), Promise, 'the cache does not keep a token beyond its expiry')
  const bad = `${token.slice(0, -8)}AAAAAAAA`
  for (const _ of [1, 2]) t.equal(await verify(bad), undefined)
})

t.test('scopes come from scope, else from scp', async (t) => {
  const { issuer, key } = await trusted(t)
  const verify = jwtVerifier({ issuer: issuer.url, audience, jwksUrl: issuer.jwksUrl })
  const cases: [claims: Record<string, unknown>, scopes: string[]][] = [
    [{ scope: 'plants:read plants:write' }, ['plants:read', 'plants:write']],
    [{ scope: '' }, []],
    [{ scp: ['plants:read', 1, ''] }, ['plants:read']],
    [{ scp: 'plants:read' }, ['plants:read']],
    [{ scope: 'plants:read', scp: ['plants:write'] }, ['plants:read']],
    [{ scope: { a: 1 } }, []],
  ]
  for (const [claims, scopes] of cases)
    t.same(await verify(key.token({ claims })), { name: client, scopes, subject: 'subject' }, JSON.stringify(claims))
})

t.test('a token is cached for a minute, or until it expires', async (t) => {
  let now = 5_000
  let ahead = 1_000_000
  const tokens = createJwtCache({ now: () => now, wallClock: () => now + ahead })
  const add = (token: string, name: string, expiresIn: number) =>
    tokens.add(token, { name, scopes: [] }, now + ahead + expiresIn)
  add('long', 'a', 600_000)
  add('short', 'b', 1_000)
  add('expired', 'c', -1)
  const known = () => ['long', 'short', 'expired', 'other'].map((token) => tokens.get(token)?.name)
  t.same(known(), ['a', 'b', undefined, undefined])
  now += 999
  t.same(known(), ['a', 'b', undefined, undefined])
  now += 1
  t.same(known(), ['a', undefined, undefined, undefined])
  now += 58_999
  t.same(known(), ['a', undefined, undefined, undefined])
  ahead += 540_001
  t.same(known(), [undefined, undefined, undefined, undefined], 'the wall clock has reached the expiry')
  now += 1
  t.same(known(), [undefined, undefined, undefined, undefined])
})

t.test('the oldest entries are evicted', async (t) => {
  const tokens = createJwtCache({ size: 2 })
  for (const token of ['a', 'b', 'a', 'c']) tokens.add(token, { name: token, scopes: [] }, Number.POSITIVE_INFINITY)
  t.same(
    ['a', 'b', 'c'].map((token) => tokens.get(token)?.name),
    ['a', undefined, 'c'],
  )
})

t.test('an issuer needs an https URL, or an http URL on loopback', async (t) => {
  const good = ['https://issuer.example', 'https://issuer.example:8443/tenant/', 'http://localhost:8080/realms/plants']
  for (const text of [...good, 'http://127.0.0.1', 'http://127.8.9.1/', 'http://[::1]:3000']) t.ok(isIssuer(text), text)
  const bad = ['http://issuer.example', 'http://localhost.issuer.example', 'http://127.issuer.example', 'http://[::2]']
  const shapes = [
    '',
    'issuer.example',
    'https:issuer.example',
    'https://',
    'ftp://localhost',
    'file:///keys',
    'HTTPS://x',
  ]
  const parts = ['https://u:p@issuer.example', 'https://u@issuer.example', 'http://127.0.0.1@issuer.example']
  for (const text of [...bad, ...shapes, ...parts]) t.notOk(isKeySource(text), text)
  for (const text of bad) t.notOk(isIssuer(text), text)
})

t.test('an issuer may have neither query nor fragment, a JWKS URL may', async (t) => {
  for (const text of ['https://issuer.example?tenant=1', 'https://issuer.example/#a', 'https://issuer.example/?']) {
    t.notOk(isIssuer(text), text)
    t.ok(isKeySource(text), text)
  }
  t.notOk(isIssuer('https://issuer.example '))
})

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

const exp = seconds() + 86_400

/** Starts an issuer with one key and returns it with a verifier that has fetched the key. */
async function fetched(t: Test, times: JwtOptions['times'] = {}) {
  const issuer = await startIssuer(t)
  const key = createKey(issuer.url)
  issuer.serve('/keys', { keys: [key.jwk] })
  const verify = clientNames(jwtVerifier({ issuer: issuer.url, audience, jwksUrl: issuer.jwksUrl, times }))
  t.equal(await verify(key.token()), client)
  return { issuer, verify, token: () => key.token({ claims: { exp } }) }
}

for (const [direction, step] of Object.entries({ forward: 7_200_000, back: -7_200_000 }))
  t.test(`setting the wall clock ${direction} changes neither key age nor cooldown`, async (t) => {
    const clock = { now: 0 }
    const { issuer, verify, token } = await fetched(t, { now: () => clock.now })
    const second = createKey(issuer.url, { kid: 'two' })
    issuer.serve('/keys', { keys: [second.jwk] })
    const { now } = Date
    t.intercept(Date, 'now', { value: () => now() + step })
    t.equal(await verify(token()), client)
    t.equal(await verify(second.token({ claims: { exp } })), undefined)
    t.same(issuer.asked, ['/keys'])
    clock.now += 10_000
    t.equal(await verify(second.token({ claims: { exp } })), client)
  })

t.test('key age is measured with the monotonic clock', async (t) => {
  const { issuer, verify, token } = await fetched(t)
  t.equal(await verify(token()), client)
  t.same(issuer.asked, ['/keys'])
  const now = performance.now.bind(performance)
  t.intercept(performance, 'now', { value: () => now() + 300_000 })
  t.equal(await verify(token()), client)
  t.same(issuer.asked, ['/keys', '/keys'])
})
