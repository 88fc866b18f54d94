import compress from '@fastify/compress'
import t from 'tap'
import { serveDocument } from '../support/serve-document.ts'
import { noteDocument, noteHandlers } from '../support/tagged-note.ts'

t.test('@fastify/compress leaves a tag as it is, so 304 and If-Match work with it', async (t) => {
  const app = await serveDocument(noteDocument, {
    handlers: noteHandlers as never,
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
