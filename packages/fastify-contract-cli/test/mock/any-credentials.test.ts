import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import type { Document } from '../../src/document/openapi-document.ts'
import { anyCredentials } from '../../src/mock/mock-server.ts'
import { ownPath } from '../support/own-path.ts'
import { serveDocument } from '../support/serve-document.ts'

const responses = { 204: { description: 'Done.' } }
const base = parse(readFileSync(ownPath('test/documents/security/openapi.yaml'), 'utf8'))
const schemes = { ...base.components.securitySchemes, digest: { type: 'http', scheme: 'digest' } }
const credentials: Record<string, { headers?: Record<string, string>; query?: string }> = {
  token: { headers: { authorization: 'Bearer x' } },
  password: { headers: { authorization: 'Basic eDp5' } },
  headerKey: { headers: { 'x-key': 'x' } },
  queryKey: { query: '?key=x' },
  cookieKey: { headers: { cookie: 'key=x' } },
  oauth: { headers: { authorization: 'Bearer x' } },
  connect: { headers: { authorization: 'Bearer x' } },
}

t.test('the mock accepts any credentials of every scheme, with every scope', async (t) => {
  const names = Object.keys(schemes)
  const document = {
    ...base,
    components: { ...base.components, securitySchemes: schemes },
    paths: Object.fromEntries(
      names.map((name) => [
        `/${name}`,
        { get: { operationId: name, security: [{ [name]: ['read', 'write'] }], responses } },
      ]),
    ),
  } as unknown as Document
  const app = await serveDocument(document, {
    handlers: Object.fromEntries(names.map((name) => [name, async () => ({ status: 204, body: undefined })])),
    verifiers: anyCredentials(document),
  })
  for (const name of names) {
    const { headers = {}, query = '' } = credentials[name] ?? {}
    t.equal((await app.inject({ url: `/${name}${query}`, headers })).statusCode, 204, name)
    // The mock has no verifier for these schemes, so it requires no credentials.
    const status = ['digest', 'certificate'].includes(name) ? 204 : 401
    t.equal((await app.inject({ url: `/${name}` })).statusCode, status, `${name}: a request without credentials`)
  }
})
