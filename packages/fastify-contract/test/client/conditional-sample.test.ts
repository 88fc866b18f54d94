import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { Document } from 'fastify-contract-cli/testing'
import t from 'tap'
import { exactClient } from '../../src/client/exact-client.ts'
import type { Preconditions } from '../../src/preconditions/precondition-check.ts'
import { ownPath } from '../support/own-path.ts'
import { serveDocument } from '../support/serve-document.ts'

const text = { schema: { type: 'string' } }
const content = { 'application/json': { schema: { type: 'object' } } }
const document = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  paths: {
    '/pets/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
      get: { operationId: 'getPet', responses: { 200: { headers: { ETag: text }, content }, 304: {} } },
      put: {
        operationId: 'putPet',
        requestBody: { content },
        responses: { 204: { headers: { ETag: text } }, 412: {}, 428: {} },
      },
    },
  },
} as unknown as Document

const page = readFileSync(ownPath('docs/conditional-requests.md'), 'utf8')
const [, sample = ''] = /^## Clients\n.*?^```ts\n(.*?)^```$/ms.exec(page) ?? []

const AsyncFunction = (async () => {}).constructor as new (
  ...names: string[]
) => (...values: unknown[]) => Promise<void>

t.test(
  'the sample of the page reads a pet again without its body, changes it, and sees that another client did',
  async (t) => {
    let version = 1
    const etag = (): `"${string}"` => `"v${version}"`
    const app = await serveDocument(document, {
      handlers: {
        getPet: async () => ({ status: 200, headers: { ETag: etag() }, body: { version } }),
        putPet: async ({ preconditions }: { preconditions: Preconditions<'etag'> }) => {
          const checked = preconditions.check({ etag: etag() })
          version++
          return { status: 204, checked, headers: { ETag: etag() }, body: undefined }
        },
      } as never,
    })
    t.teardown(() => app.close())
    await app.listen({ host: '127.0.0.1', port: 0 })
    const baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
    const run = async (beforePut = () => {}) => {
      const printed: unknown[] = []
      const statuses: number[] = []
      const client = exactClient(
        {},
        {
          baseUrl,
          async fetch(request) {
            if (request.method === 'PUT') beforePut()
            const response = await fetch(request)
            statuses.push(response.status)
            return response
          },
        },
      )
      const log = (value: unknown) => void printed.push(value)
      await new AsyncFunction('client', 'params', 'body', 'console', sample)(client, { path: { id: 7 } }, {}, { log })
      return { statuses, printed }
    }
    t.same(await run(), { statuses: [200, 304, 204], printed: [{ version: 1 }] })
    t.same(await run(() => void version++), {
      statuses: [200, 304, 412],
      printed: [{ version: 2 }, 'read the pet again'],
    })
  },
)
