import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequestOf } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { audience, createKey, startIssuer } from 'fastify-contract-test-support/issuer'
import t from 'tap'
import { basic, tokensAsPasswords, type VerifyPassword } from '../../src/auth/basic.ts'
import { mutualTls } from '../../src/auth/mutual-tls.ts'
import {
  type ApiKeyLocation,
  apiKey,
  type OpenIdProvider,
  openIdConnect,
  type Verifier,
} from '../../src/auth/verifiers.ts'
import { parseQuery } from '../../src/http/request-head.ts'
import { createVerifiers } from '../../src/routes/security.ts'
import { serveDocument, verifierContext } from '../support/serve-document.ts'

/** These verifiers read no reply. */
const noReply = {} as FastifyReply

const keyClient = { name: 'shop', scopes: [] }

/** Returns the key that the verifier reads from a request, or the name of the error that rejects the request. */
function keyOf(place: ApiKeyLocation, { headers = {}, query = '' }: { headers?: object; query?: string }) {
  let told: unknown
  const request = { headers, query: parseQuery(query), raw: { socket: {} } } as unknown as FastifyRequest
  const verify = (key: string) => {
    told = key
    return keyClient
  }
  const verifier = apiKey(place, verify)(verifierContext(undefined as never)) as Verifier
  verifier(
    request,
    (rejection) => {
      if (rejection !== undefined) told = (rejection as { kind?: string }).kind
    },
    [],
    noReply,
  )
  return told
}

const longest = 'k'.repeat(4_096)

t.test('a key is read from a header', async (t) => {
  const of = (headers: object) => keyOf({ in: 'header', name: 'X-API-Key' }, { headers })
  t.equal(of({ 'x-api-key': 'a%2B+/=' }), 'a%2B+/=', 'a key in a header is not decoded')
  t.equal(of({ 'x-api-key': longest }), longest)
  for (const none of [{}, { 'x-api-key': '' }, { authorization: 'k' }]) t.equal(of(none), 'missingToken')
  for (const wrong of [`${longest}k`, ['k', 'k']]) t.equal(of({ 'x-api-key': wrong }), 'invalidToken')
})

t.test('a key in the query is decoded', async (t) => {
  const of = (query: string) => keyOf({ in: 'query', name: 'key' }, { query })
  t.equal(of('a=b&key=a%2B+%C3%A9'), 'a+ é')
  t.equal(of('k%65y=k'), 'k')
  for (const none of ['', 'key=', 'key', 'KEY=k', 'keys=k']) t.equal(of(none), 'missingToken', none)
  for (const wrong of ['key=k&key=k', 'key=&key=k', 'key=%', 'key=%FF', `key=${longest}k`])
    t.equal(of(wrong), 'invalidToken')
})

t.test('a key in a cookie is not decoded', async (t) => {
  const of = (cookie: string) => keyOf({ in: 'cookie', name: 'key' }, { headers: { cookie } })
  t.equal(of('a=b; key=a+b%20=='), 'a+b%20==')
  for (const none of ['', 'key=', 'KEY=k']) t.equal(of(none), 'missingToken', none)
  t.equal(of(`key=${longest}k`), 'invalidToken')
  t.equal(keyOf({ in: 'cookie', name: 'key' }, {}), 'missingToken')
})

t.test('of two cookies of one name the first is the key, and quotes around it are none of it', async (t) => {
  const of = (cookie: string) => keyOf({ in: 'cookie', name: 'key' }, { headers: { cookie } })
  t.equal(of('key=k; key=l'), 'k')
  t.equal(of('key=; key=l'), 'missingToken')
  t.equal(of('key="a b,c"; key=l'), 'a b,c')
  for (const odd of ['"k', 'k"', '"', '"a"b"']) t.equal(of(`key=${odd}`), odd)
})

t.test('an inherited property name is an ordinary name', async (t) => {
  for (const name of ['toString', '__proto__']) {
    t.equal(keyOf({ in: 'query', name }, {}), 'missingToken', name)
    t.equal(keyOf({ in: 'query', name }, { query: `${name}=k` }), 'k')
  }
  t.equal(keyOf({ in: 'header', name: 'constructor' }, {}), 'missingToken')
})

const context = verifierContext(undefined as never)
const passwordClient = { name: 'shop', scopes: ['read'] }
const base64 = (bytes: string | Uint8Array) => Buffer.from(bytes as string).toString('base64')

/** Returns the outcome of a request with an Authorization header. */
async function verified(authorization: string | undefined, verify: VerifyPassword) {
  const request = { headers: { authorization }, raw: { socket: {} } } as unknown as FastifyRequest
  const verifier = await basic(verify)(context)
  return await new Promise<unknown>((resolve) =>
    verifier(request, (rejection, passwordClient) => resolve(rejection ?? passwordClient), [], noReply),
  )
}

/** Returns the credentials that the verifier reads; undefined when it looks up no client. */
async function read(authorization: string) {
  let seen: unknown
  await verified(authorization, (credentials) => {
    seen = credentials
    return passwordClient
  })
  return seen
}

t.test('name and password are UTF-8, split at the first colon', async (t) => {
  const cases: [text: string, user: string, password: string][] = [
    ['Aladdin:open sesame', 'Aladdin', 'open sesame'],
    ['test:123£', 'test', '123£'],
    ['a:b:c', 'a', 'b:c'],
    [':', '', ''],
    ['e\u0301:n\u0303', 'é', 'ñ'],
  ]
  for (const [text, user, password] of cases) t.same(await read(`Basic ${base64(text)}`), { user, password })
  for (const scheme of ['basic', 'BASIC '])
    t.same(await read(`${scheme} QWxhZGRpbjpvcGVuIHNlc2FtZQ==`), { user: 'Aladdin', password: 'open sesame' })
})

t.test('an Authorization header of another scheme counts as missing', async (t) => {
  const missing = {
    kind: 'missingToken',
    headers: { 'www-authenticate': 'Basic realm="plant-store", charset="UTF-8"' },
  }
  for (const authorization of [undefined, '', 'Basic', 'Basic ', 'Bearer YTpi', 'BasicYTpi'])
    t.match(await verified(authorization, () => passwordClient), missing, String(authorization))
})

t.test('malformed credentials are invalid', async (t) => {
  const texts = [
    'YTpi=',
    'YTp',
    'YTpi YTpi',
    'YTpi,',
    'YT-_',
    'YTpiY===',
    'YTpiYh==',
    base64('no colon'),
    base64('a:b\n'),
    base64('a\0:b'),
    base64('a:\u0085'),
    base64(Buffer.from('a:\xff', 'latin1')),
    base64(`a:${'b'.repeat(3_100)}`),
  ]
  for (const text of texts) {
    t.equal(await read(`Basic ${text}`), undefined, text.slice(0, 20))
    t.match(await verified(`Basic ${text}`, () => passwordClient), { kind: 'invalidToken', statusCode: 401 })
  }
  t.ok(await read(`Basic ${base64(`a:${'b'.repeat(3_000)}`)}`), 'up to 4,096 characters')
})

t.test('an asynchronous verifier may accept, reject or fail', async (t) => {
  const authorization = 'Basic YTpi'
  t.equal(await verified(authorization, () => passwordClient), passwordClient)
  t.equal(await verified(authorization, async () => passwordClient), passwordClient)
  t.match(await verified(authorization, () => undefined), { kind: 'invalidToken' })
  t.match(await verified(authorization, async () => undefined), { kind: 'invalidToken' })
  const failure = new Error('no passwords')
  t.equal(await verified(authorization, () => Promise.reject(failure)), failure)
  const failing = () => {
    throw failure
  }
  t.equal(await verified(authorization, failing), failure)
})

t.test('the connection is paused while a verifier is pending', async (t) => {
  const told: string[] = []
  const socket = { pause: () => told.push('pause'), resume: () => told.push('resume') }
  const request = { headers: { authorization: 'Basic YTpi' }, raw: { socket } } as unknown as FastifyRequest
  const verify = async () => passwordClient
  const verifier = await basic(verify)(context)
  await new Promise<void>((resolve) => verifier(request, () => resolve(), [], noReply))
  t.same(told, ['pause', 'resume'])
})

t.test('a token is valid only with the name of its client', async (t) => {
  const known = (token: string) => (token === 'b' ? passwordClient : undefined)
  for (const verify of [tokensAsPasswords(known), tokensAsPasswords(async (token) => known(token))]) {
    const as = async (user: string, password: string) => await verify({ user, password }, () => true)
    t.equal(await as('shop', 'b'), passwordClient)
    t.same([await as('other', 'b'), await as('shop', 'c'), await as('', '')], [undefined, undefined, undefined])
  }
  const costs: boolean[] = []
  tokensAsPasswords((_token, withinFailureLimit = () => true) => {
    costs.push(withinFailureLimit())
    return undefined
  })({ user: 'a', password: 'b' }, () => false)
  t.same(costs, [false])
})

const create = async (provider: OpenIdProvider) => openIdConnect(provider)(verifierContext(Fastify()))
const wellKnown = '/.well-known/openid-configuration'

t.test('a URL that is not a metadata location is rejected at start', async (t) => {
  const wrong = [
    '',
    'issuer.example',
    wellKnown,
    `http://issuer.example${wellKnown}`,
    'https://issuer.example',
    `https://issuer.example${wellKnown}/more`,
    `https://issuer.example${wellKnown}?a=b`,
    `https://issuer.example?a=b${wellKnown}`,
  ]
  for (const url of wrong) await t.rejects(create({ url, audience }), { message: /^openIdConnectUrl ".*" must / }, url)
  const foreign = { url: `https://one.example${wellKnown}`, audience, issuer: 'https://two.example' }
  await t.rejects(create(foreign), /^openIdConnectUrl/)
})

t.test('an issuer may have a path and end with a slash', async (t) => {
  const server = await startIssuer(t)
  for (const [path, isNamed] of [
    ['/', true],
    ['/a/b/', true],
    ['/a/c', false],
  ] as const) {
    const issuer = server.url + path
    const key = createKey(issuer)
    server.serve('/keys', { keys: [key.jwk] })
    const url = issuer.replace(/\/$/, '') + wellKnown
    server.serve(url.slice(server.url.length), { issuer, jwks_uri: server.jwksUrl })
    const responses = { 204: { description: 'Done.' } }
    const app = await serveDocument(
      {
        openapi: '3.1.0',
        info: { title: 'Test', version: '1.0.0' },
        components: { securitySchemes: { connect: { type: 'openIdConnect', openIdConnectUrl: url } } },
        paths: { '/': { get: { operationId: 'get', security: [{ connect: [] }], responses } } },
      },
      {
        handlers: { get: async () => ({ status: 204, body: undefined }) },
        verifiers: (context) =>
          createVerifiers(
            { connect: openIdConnect({ url, audience, ...(isNamed && { issuer, boundTokens: 'accept' }) }) },
            context,
          ),
      },
    )
    t.teardown(() => app.close())
    const served = await app.listen({ host: '127.0.0.1', port: 0 })
    const status = async (token: string) =>
      (await httpRequest(`${served}/`, { headers: { authorization: `Bearer ${token}` } })).status
    t.equal(await status(key.token()), 204, path)
    t.equal(await status(key.token({ header: { typ: 'JWT' } })), 401, 'an ID token')
    const bound = key.token({ claims: { cnf: { jkt: 'AA' } } })
    t.equal(await status(bound), isNamed ? 204 : 401, 'a token that is bound to a key')
    const asDpop = await httpRequest(`${served}/`, { headers: { authorization: `DPoP ${bound}` } })
    t.match(asDpop, { status: 401, headers: { 'www-authenticate': /^Bearer realm="[^"]*"$/ } })
  }
})

const document = {
  openapi: '3.1.0',
  info: { title: 'Certificates', version: '1.0.0' },
  paths: {
    '/': { get: { operationId: 'read', security: [{ tls: [] }], responses: { 204: { description: 'Done.' } } } },
  },
  components: { securitySchemes: { tls: { type: 'mutualTLS' } } },
}

/** Returns a service that trusts these proxies. */
const serviceBehind = async (trustProxy: string[]) => {
  const tls = mutualTls({
    header: 'X-Client-Cert',
    verify: (certificate) => (certificate === 'known' ? { name: 'device', scopes: [] } : undefined),
  })
  return await serveDocument(document, {
    trustProxy,
    handlers: {
      read: async ({ client }: { client?: { name: string } }) => ({
        status: client?.name === 'device' ? 204 : 500,
        body: undefined,
      }),
    },
    verifiers: (context) => createVerifiers({ tls }, context),
  })
}

/** Returns the status of a request with the headers, from 127.0.0.1, to a service that trusts these proxies. */
const statusOf = async (trustProxy: string[], headers: Record<string, string | string[]>) => {
  const app = await serviceBehind(trustProxy)
  try {
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    const { status, headers: answer } = await httpRequest(origin, { method: 'GET', path: '/', headers })
    return status === 401 ? String(answer['www-authenticate']) : status
  } finally {
    await app.close()
  }
}

const challenge = 'MutualTLS realm="plant-store"'

t.test('a certificate counts if a trusted proxy reports it', async (t) => {
  for (const proxies of [['127.0.0.1'], ['10.0.0.1', '127.0.0.0/8'], ['::1/128', '::ffff:127.0.0.1']])
    t.equal(await statusOf(proxies, { 'x-client-cert': 'known' }), 204, proxies.join())
  for (const cert of ['', 'unknown', ['known', 'known']])
    t.equal(await statusOf(['127.0.0.1'], { 'x-client-cert': cert }), challenge, String(cert))
  t.equal(await statusOf(['127.0.0.1'], { 'client-cert': 'known' }), challenge, 'another header does not count')
})

t.test('a header from any other address is no certificate', async (t) => {
  for (const proxy of ['127.0.0.2', '10.0.0.0/8', '::1']) {
    const forged = { 'x-client-cert': 'known', 'x-forwarded-for': '127.0.0.2' }
    t.equal(await statusOf([proxy], forged), challenge, proxy)
  }
})

t.test('a client of an IPv6 address or a Unix socket is a proxy only if its address is listed', async (t) => {
  const headers = { 'x-client-cert': 'known' }
  const app = await serviceBehind(['::1'])
  t.teardown(() => app.close())
  for (const [remoteAddress, status] of [
    ['::1', 204],
    ['::2', 401],
  ] as const)
    t.equal((await app.inject({ url: '/', headers, remoteAddress })).statusCode, status, remoteAddress)
  // The path of a Unix socket has at most 107 bytes, and a longer one is cut off.
  const directory = mkdtempSync(join(tmpdir(), 'socket-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const socketPath = join(directory, 'http.sock')
  await app.listen({ path: socketPath })
  const [response] = await once(httpRequestOf({ socketPath, path: '/', headers }).end(), 'response')
  t.equal(response.resume().statusCode, 401, 'a Unix socket has no address')
})

t.test('the service does not start unless the operator names the header and trusts a proxy', async (t) => {
  const context = verifierContext(undefined as never)
  const create = (header: string, trustProxy: string[]) => () =>
    mutualTls({ header, verify: () => undefined })({ ...context, trustProxy })
  t.throws(create('Client-Cert', []), {
    message: 'mutualTls: any client could send Client-Cert; set trustProxy to the addresses of your proxy',
  })
  for (const header of ['', 'a b', 'a:'])
    t.throws(create(header, ['127.0.0.1']), {
      message: `mutualTls: ${JSON.stringify(header)} is not a header; name the one with the client certificate`,
    })
  t.throws(create('Client-Cert', ['10.0.0.0/8', 'loopback']), {
    message: 'mutualTls: trustProxy has loopback; use IP addresses and CIDR ranges',
  })
})
