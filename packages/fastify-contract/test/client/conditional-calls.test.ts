import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Document } from 'fastify-contract-cli/testing'
import t from 'tap'
import { exactClient } from '../../src/client/exact-client.ts'
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
      put: { operationId: 'putNote', responses: { 204: { headers: { ETag: text } }, 412: {}, 428: {} } },
    },
  },
} as unknown as Document

/** The types of this document, as openapi-typescript writes them. */
type Paths = {
  '/note': {
    get: { responses: { 200: { content: { 'application/json': string } }; 304: { content?: never } } }
    put: { responses: { 204: { content?: never }; 412: { content?: never }; 428: { content?: never } } }
    delete: { responses: { 204: { content?: never } } }
  }
}

t.test('a call sends tags, and gets 304 without data', async (t) => {
  let version = 1
  const etag = (): `"${string}"` => `"v${version}"`
  const app = await serveDocument(document, {
    handlers: {
      getNote: async () => ({ status: 200, headers: { ETag: etag() }, body: `text ${version}` }),
      putNote: async ({ preconditions }: { preconditions: Preconditions<'etag'> }) => {
        const checked = preconditions.check({ etag: etag() })
        version++
        return { status: 204, checked, headers: { ETag: etag() }, body: undefined }
      },
    } as never,
  })
  t.teardown(() => app.close())
  app.server.listen(0, '127.0.0.1')
  await app.ready()
  if (!app.server.listening) await once(app.server, 'listening')
  const client = exactClient<Paths>({}, { baseUrl: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}` })

  const first = await client.GET('/note')
  const tag = first.response.headers.get('etag') as string
  const again = await client.GET('/note', { ifNoneMatch: ['"v0"', tag] })
  t.match([again.status, again.data, again.error], [304, undefined, undefined])
  t.equal((await client.PUT('/note')).status, 428)
  t.equal((await client.PUT('/note', { ifMatch: tag })).status, 204)
  t.equal((await client.PUT('/note', { ifMatch: tag })).status, 412)
  t.equal((await client.PUT('/note', { ifNoneMatch: '*' })).status, 412)
  t.equal((await client.GET('/note', { ifNoneMatch: tag })).data, 'text 2')

  const wrong = async () => {
    // @ts-expect-error the operation does not list 412
    await client.GET('/note', { ifMatch: tag })
    // @ts-expect-error the operation lists neither 304 nor 412
    await client.DELETE('/note', { ifNoneMatch: tag })
    // @ts-expect-error a response without a tag has none to send
    await client.PUT('/note', { ifMatch: first.response.headers.get('etag') })
  }
  t.type(wrong, 'function', 'the function is only compiled, never run')
})
