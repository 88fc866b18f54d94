import t from 'tap'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { scopesOf } from '../../src/compile/document/security-schemes.ts'
import { checkDocument } from '../../src/compile/rules/check-document.ts'

const responses = { 204: { description: 'Done.' } }
const operation = (operationId: string, security?: object) => ({
  operationId,
  responses,
  ...(security && { security }),
})
const tokenUrl = 'https://example.com/token'

/** Returns a document with operations that inherit their scopes and operations that define their own. */
const documentOf = (inherited: string[], own: string[]) =>
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
  t.same(scopesOf(documentOf(['read'], ['write', 'read'])), ['read', 'write'])
  t.same(scopesOf(documentOf([], [])), [])
})

t.test('an invalid scope is rejected with its location, once', async (t) => {
  const document = documentOf(['a b'], ['"', '\\', 'é', ''])
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
  t.same(checkDocument(documentOf(['plants:read'], ['https://example.com/auth/plants.write', '!'])).rejected, [])
})

t.test('an oauth2 scope that no flow declares is reported', async (t) => {
  t.same(checkDocument(documentOf(['read'], ['write'])).warnings, [])
  t.same(checkDocument(documentOf(['toString'], ['raed'])).warnings, [
    '#/security/0/oauth: scope toString is not declared in any flow of oauth; add it there, or correct it here',
    '#/paths/~1b/get/security/1/oauth: scope raed is not declared in any flow of oauth; add it there, or correct it here',
  ])
})
