import { writeFileSync } from 'node:fs'
import t from 'tap'
import { httpRequest } from '../../../../test/support/http-request.ts'
import { audience, createKey, startIssuer } from '../../../../test/support/issuer.ts'
import { writeTokenFile } from '../../../../test/support/token-files.ts'
import { createTokenVerifier } from '../../src/auth/token-verifier.ts'
import { newToken } from '../../src/auth/tokens.ts'
import { bearer, createVerifiers } from '../../src/auth/verifiers.ts'
import { create } from '../../src/cli/token.ts'
import { serveDocument } from '../support/serve-document.ts'

const responses = { 204: { description: 'Done.' } }
const document = {
  openapi: '3.1.0',
  info: { title: 'Plants', version: '1.0.0' },
  security: [{ bearer: [] }],
  components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  paths: {
    '/plants': {
      get: { operationId: 'read', responses },
      delete: { operationId: 'remove', security: [{ bearer: ['plants:write', 'plants:read'] }], responses },
    },
  },
}
const done = async () => ({ status: 204, body: undefined })

t.test('tokens of a list, a file and an issuer are limited to their scopes', async (t) => {
  const issuer = await startIssuer(t)
  const key = createKey(issuer.url)
  issuer.serve('/keys', { keys: [key.jwk] })
  const path = writeTokenFile(t)
  const make = (name: string, scope?: string) => create({ name, ...(scope !== undefined && { scope }) }, Date.now())([])
  const made = [make('writer', 'plants:read plants:write'), make('reader', 'plants:read'), make('former')]
  writeFileSync(path, JSON.stringify({ tokens: made.flatMap(({ entries }) => entries) }))
  const [writer, reader, former] = made.map(({ result }) => result.trim())
  const listed = newToken()
  const errors: Error[] = []
  const { verify, close } = await createTokenVerifier(
    { tokens: [listed], tokensFile: path, jwt: { issuer: issuer.url, audience, jwksUrl: issuer.jwksUrl } },
    { load() {}, error: (error) => errors.push(error) },
  )
  t.teardown(close)
  const app = await serveDocument(document, {
    handlers: { read: done, remove: done },
    verifiers: (context) => createVerifiers({ bearer: bearer(verify) }, context),
  })
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })

  const issued = (claims: Record<string, unknown>) => key.token({ claims })
  const cases: [token: string | undefined, read: number, remove: number][] = [
    [writer, 204, 204],
    [reader, 204, 403],
    [former, 204, 403],
    [listed, 204, 403],
    [issued({ scope: 'plants:write plants:read' }), 204, 204],
    [issued({ scp: ['plants:read', 'plants:write'] }), 204, 204],
    [issued({ scope: 'plants:read' }), 204, 403],
    [issued({}), 204, 403],
    [newToken(), 401, 401],
  ]
  for (const [token, read, remove] of cases) {
    const call = (method: string) =>
      httpRequest(`${url}/plants`, { method, headers: { authorization: `Bearer ${token}` } })
    t.equal((await call('GET')).status, read)
    const { status, headers, body } = await call('DELETE')
    t.equal(status, remove)
    if (status !== 403) continue
    t.same(JSON.parse(body), {
      error: 40300,
      message: 'a scope is missing; the operation needs plants:write plants:read',
    })
    const challenge = 'Bearer realm="plant-store", error="insufficient_scope", scope="plants:write plants:read"'
    t.equal(headers['www-authenticate'], challenge)
  }
  t.same(errors, [])
})
