import { readFileSync } from 'node:fs'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { audience, createKey, startIssuer } from 'fastify-contract-test-support/issuer'
import t from 'tap'
import { parse } from 'yaml'
import type { Document } from '../../src/document/openapi-document.ts'
import { apiKeyHeaders, credentialOf, scopesOf } from '../../src/document/security-schemes.ts'
import { checkDocument } from '../../src/rules/check-document.ts'
import { ownPath } from '../support/own-path.ts'
import { serveDocument } from '../support/serve-document.ts'
import { calls, handlers, verifiersOf } from './security/handlers.ts'
import type { Call } from './served-documents.ts'

const document = parse(readFileSync(ownPath('test/documents/security/openapi.yaml'), 'utf8'))

t.test('every kind of scheme is verified over sockets, with its scopes', async (t) => {
  const issuer = await startIssuer(t)
  const key = createKey(issuer.url)
  const metadata = '/.well-known/openid-configuration'
  issuer.serve(metadata, { issuer: issuer.url, jwks_uri: issuer.jwksUrl })
  issuer.serve('/keys', { keys: [key.jwk] })
  const app = await serveDocument(document, {
    handlers: handlers as never,
    verifiers: verifiersOf(issuer.url + metadata),
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
  for (const { request, headers = {}, send, status = 200, error, body, answer = {} } of [...calls, ...ofProvider]) {
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

const documentOf = (securitySchemes: Record<string, object>): Document => ({
  openapi: '3.1.0',
  info: { title: 'Test', version: '1' },
  paths: { '/a': { get: { security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })) } } },
  components: { securitySchemes },
})

t.test('a header shared by two API keys appears once', async (t) => {
  const key = { type: 'apiKey', in: 'header', name: 'X-Key' }
  const document = documentOf({
    one: key,
    two: key,
    three: { $ref: '#/components/securitySchemes/one' },
    query: { ...key, in: 'query' },
    basic: { type: 'http', scheme: 'basic' },
  })
  t.same(apiKeyHeaders(document), ['X-Key'])
})

t.test('credentials are placed where their scheme says; mutualTLS has none', async (t) => {
  const authorization = (prefix: string) => ({ in: 'header', name: 'Authorization', prefix })
  const cases: [scheme: object, credential: object | undefined][] = [
    [
      { type: 'apiKey', in: 'cookie', name: 'sid' },
      { in: 'cookie', name: 'sid', prefix: '' },
    ],
    [{ type: 'http', scheme: 'bearer' }, authorization('Bearer ')],
    [{ type: 'http', scheme: 'BASIC' }, authorization('Basic ')],
    [{ type: 'http', scheme: 'digest' }, authorization('Digest ')],
    [{ type: 'oauth2' }, authorization('Bearer ')],
    [{ type: 'openIdConnect' }, authorization('Bearer ')],
    [{ type: 'mutualTLS' }, undefined],
    [{ type: 'http' }, undefined],
  ]
  for (const [scheme, credential] of cases)
    t.same(credentialOf(documentOf({ one: scheme as never }), 'one'), credential, JSON.stringify(scheme))
})

const responses = { 204: { description: 'Done.' } }
const operation = (operationId: string, security?: object) => ({
  operationId,
  responses,
  ...(security && { security }),
})
const tokenUrl = 'https://example.com/token'

/** Returns a document with operations that inherit their scopes and operations that define their own. */
const scopedDocument = (inherited: string[], own: string[]) =>
  ({
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    security: [{ oauth: inherited }],
    paths: {
      '/a': { get: operation('a'), put: operation('b') },
      '/b': { get: operation('c', [{}, { key: [], oauth: own }]), put: operation('d', [{ key: own }]) },
      '/c': { get: operation('e', []) },
    },
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-Key' },
        oauth: { $ref: '#/components/securitySchemes/shared' },
        shared: {
          type: 'oauth2',
          flows: {
            clientCredentials: { tokenUrl, scopes: { read: 'Read.' } },
            password: { tokenUrl, scopes: { write: 'Write.' } },
            implicit: { authorizationUrl: tokenUrl },
            'x-none': null,
          },
        },
      },
    },
  }) as unknown as Document

t.test('every scope of a document is listed once', async (t) => {
  t.same(scopesOf(scopedDocument(['read'], ['write', 'read'])), ['read', 'write'])
  t.same(scopesOf(scopedDocument([], [])), [])
})

t.test('an invalid scope is rejected with its location, once', async (t) => {
  const document = scopedDocument(['a b'], ['"', '\\', 'é', ''])
  const problem = (place: string, scope: string) =>
    `${place}: scope ${JSON.stringify(scope)} is not valid (RFC 6749); use printable ASCII without spaces, " and \\`
  const own = ['"', '\\', 'é', '']
  const problems = [
    problem('#/security/0/oauth', 'a b'),
    ...own.map((scope) => problem('#/paths/~1b/get/security/1/oauth', scope)),
    ...own.map((scope) => problem('#/paths/~1b/put/security/0/key', scope)),
  ]
  t.same(checkDocument(document).rejected, problems)
  t.same(checkDocument(document).rejected, problems)
  t.same(checkDocument(scopedDocument(['plants:read'], ['https://example.com/auth/plants.write', '!'])).rejected, [])
})

t.test('an oauth2 scope that no flow declares is reported', async (t) => {
  t.same(checkDocument(scopedDocument(['read'], ['write'])).warnings, [])
  t.same(checkDocument(scopedDocument(['toString'], ['raed'])).warnings, [
    '#/security/0/oauth: scope toString is not declared in any flow of oauth; add it there, or correct it here',
    '#/paths/~1b/get/security/1/oauth: scope raed is not declared in any flow of oauth; add it there, or correct it here',
  ])
})
