import t from 'tap'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { apiKeyHeaders, credentialOf } from '../../src/compile/document/security-schemes.ts'

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
  for (const [scheme, credential] of cases) {
    t.same(credentialOf(documentOf({ one: scheme as never }), 'one'), credential, JSON.stringify(scheme))
  }
})
