import Fastify from 'fastify'
import t from 'tap'
import { httpRequest } from '../../../../test/support/http-request.ts'
import { audience, createKey, startIssuer } from '../../../../test/support/issuer.ts'
import { createVerifiers, type OpenIdProvider, openIdConnect } from '../../src/auth/verifiers.ts'
import { serveDocument, verifierContext } from '../support/serve-document.ts'

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
  for (const url of wrong) {
    await t.rejects(create({ url, audience }), { message: /^openIdConnectUrl ".*" must / }, url)
  }
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
          createVerifiers({ connect: openIdConnect({ url, audience, ...(isNamed && { issuer }) }) }, context),
      },
    )
    t.teardown(() => app.close())
    const served = await app.listen({ host: '127.0.0.1', port: 0 })
    const status = async (token: string) =>
      (await httpRequest(`${served}/`, { headers: { authorization: `Bearer ${token}` } })).status
    t.equal(await status(key.token()), 204, path)
    t.equal(await status(key.token({ header: { typ: 'JWT' } })), 401, 'an ID token')
  }
})
