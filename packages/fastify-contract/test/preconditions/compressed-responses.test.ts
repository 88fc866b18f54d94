import compress from '@fastify/compress'
import type { Document } from 'fastify-contract-cli/testing'
import t from 'tap'
import type { Preconditions } from '../../src/preconditions/precondition-check.ts'
import { serveDocument } from '../support/serve-document.ts'

const text = { schema: { type: 'string' } }
const content = { 'application/json': { schema: { type: 'string' } } }
const document = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  paths: {
    '/note': {
      get: { operationId: 'getNote', responses: { 200: { headers: { ETag: text }, content }, 304: {} } },
      put: { operationId: 'putNote', responses: { 204: { headers: { ETag: text } }, 412: {} } },
    },
  },
} as unknown as Document

t.test('@fastify/compress leaves a tag as it is, so 304 and If-Match work with it', async (t) => {
  const app = await serveDocument(document, {
    handlers: {
      getNote: async () => ({ status: 200, headers: { ETag: '"v1"' }, body: 'a'.repeat(5_000) }),
      putNote: async ({ preconditions }: { preconditions: Preconditions<'etag'> }) => {
        const checked = preconditions.check({ etag: '"v1"' })
        return { status: 204, checked, headers: { ETag: '"v2"' }, body: undefined }
      },
    } as never,
    plugins: (app) => void app.register(compress, { encodings: ['gzip'] }),
  })
  t.teardown(() => app.close())
  const send = async (method: 'GET' | 'PUT', headers: Record<string, string>) => {
    const { statusCode, headers: sent } = await app.inject({
      ...{ method, url: '/note', headers: { 'accept-encoding': 'gzip', ...headers } },
    })
    return [statusCode, sent.etag, sent['content-encoding'], sent.vary]
  }
  t.same(await send('GET', {}), [200, '"v1"', 'gzip', 'accept-encoding'])
  t.same((await send('GET', { 'if-none-match': '"v1"' })).slice(0, 3), [304, '"v1"', undefined])
  t.equal((await send('PUT', { 'if-match': '"v1"' }))[0], 204)
  t.equal((await send('PUT', { 'if-match': '"v1-gzip"' }))[0], 412)
  t.equal((await send('PUT', { 'if-match': 'W/"v1"' }))[0], 412)
})
