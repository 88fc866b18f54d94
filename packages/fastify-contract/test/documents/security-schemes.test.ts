import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { httpRequest } from '../../../../test/support/http-request.ts'
import { audience, createKey, startIssuer } from '../../../../test/support/issuer.ts'
import { serveDocument } from '../support/serve-document.ts'
import { calls, handlers, verifiers } from './security/handlers.ts'
import type { Call } from './served-documents.ts'

const document = parse(readFileSync('packages/fastify-contract/test/documents/security/openapi.yaml', 'utf8'))

t.test('every kind of scheme is verified over sockets, with its scopes', async (t) => {
  const issuer = await startIssuer(t)
  const key = createKey(issuer.url)
  const metadata = '/.well-known/openid-configuration'
  issuer.serve(metadata, { issuer: issuer.url, jwks_uri: issuer.jwksUrl })
  issuer.serve('/keys', { keys: [key.jwk] })
  const app = await serveDocument(document, {
    handlers: handlers as never,
    verifiers: (context) => verifiers(context, issuer.url + metadata),
  })
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })

  const bearer = (claims: Record<string, unknown>) => ({ authorization: `Bearer ${key.token({ claims })}` })
  const needs = 'Bearer realm="plant-store", error="insufficient_scope", scope="admin"'
  const ofProvider: Call[] = [
    { request: 'GET /scopes', headers: bearer({ scope: 'read admin' }), status: 204 },
    { request: 'GET /scopes', headers: bearer({ scp: ['admin'] }), status: 204 },
    ...[{ scope: 'administrator' }, { scope: 'ADMIN' }, { scp: ['admin read'] }, {}].map((claims) => ({
      request: 'GET /scopes',
      headers: bearer(claims),
      status: 403,
      error: 40300,
      answer: { 'www-authenticate': needs },
    })),
    {
      request: 'GET /scopes',
      headers: bearer({ scope: 'admin', aud: `${audience}/other` }),
      status: 401,
      error: 40101,
    },
  ]
  for (const { request, headers = {}, send, status, error, body, answer = {} } of [...calls, ...ofProvider]) {
    const [method = '', target = ''] = request.split(' ')
    const type = send === undefined ? {} : { 'content-type': 'application/json' }
    const got = await httpRequest(url + target, {
      method,
      headers: { ...type, ...headers },
      ...(send !== undefined && { body: typeof send === 'string' ? send : JSON.stringify(send) }),
    })
    t.equal(got.status, status, `${request} ${JSON.stringify(headers).slice(0, 80)}`)
    if (error !== undefined) t.equal(JSON.parse(got.body).error, error)
    if (body !== undefined) t.equal(got.body, body)
    for (const [name, value] of Object.entries(answer)) t.ok(got.headers[name]?.includes(value), `${name}: ${value}`)
    if (status === 403 && answer['www-authenticate'] === undefined) t.notOk(got.headers['www-authenticate'])
  }
  t.ok(issuer.asked.includes(metadata), 'the keys are discovered')
})
