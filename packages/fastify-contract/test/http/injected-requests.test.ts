import { Readable } from 'node:stream'
import type { InjectOptions } from 'fastify'
import type { Document } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import { errorBody, serveDocument } from '../support/serve-document.ts'

const bytes = { schema: { type: 'string', contentMediaType: 'application/octet-stream' } }
const operation = (operationId: string, content: object) => ({
  post: {
    operationId,
    requestBody: { required: true, content },
    responses: { 200: { description: 'The length.', content: { 'application/json': { schema: {} } } } },
  },
})

const document = {
  openapi: '3.1.0',
  info: { title: 'Bodies', version: '1.0.0' },
  security: [],
  paths: {
    '/json': operation('json', { 'application/json': { schema: {} } }),
    '/text': operation('text', { 'text/plain': { schema: { type: 'string' } } }),
    '/form': operation('form', { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } }),
    '/bytes': operation('bytes', { 'application/octet-stream': bytes }),
    '/parts': operation('parts', {
      'multipart/form-data': { schema: { type: 'object', properties: { file: bytes.schema } } },
    }),
    '/lines': operation('lines', { 'application/jsonl': { schema: { type: 'array', items: {} } } }),
  },
} as unknown as Document

async function countOf(source: AsyncIterable<Buffer | { stream?: AsyncIterable<Buffer> }>): Promise<number> {
  let count = 0
  for await (const one of source)
    count += typeof one === 'object' && 'stream' in one && one.stream ? await countOf(one.stream) : 1
  return count
}

async function serve(t: Test) {
  const whole = async () => ({ status: 200, body: 'read' })
  const streamed = async ({ body }: { body: AsyncIterable<Buffer> }) => ({ status: 200, body: await countOf(body) })
  const handlers = { json: whole, text: whole, form: whole, bytes: streamed, parts: streamed, lines: streamed }
  const app = await serveDocument(document, { handlers: handlers as never, errorBody, limits: { body: 1_000 } })
  t.teardown(() => app.close())
  return app
}

const multipart = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc\r\n--b--\r\n'
const bodies: [url: string, type: string, text: string][] = [
  ['/json', 'application/json', '{"a":1}'],
  ['/text', 'text/plain', 'a'],
  ['/form', 'application/x-www-form-urlencoded', 'a=b'],
  ['/bytes', 'application/octet-stream', 'abc'],
  ['/parts', 'multipart/form-data; boundary=b', multipart],
  ['/lines', 'application/jsonl', '1\n2\n'],
]

t.test('an injected request may have any header of the framing, and a body in any form', async (t) => {
  const app = await serve(t)
  const framings: [name: string, headers: Record<string, string>][] = [
    ['none', {}],
    ['chunked', { 'transfer-encoding': 'chunked' }],
    ['expect', { expect: '100-continue' }],
    ['trailer', { 'transfer-encoding': 'chunked', trailer: 'X' }],
    ['upgrade', { connection: 'upgrade', upgrade: 'websocket' }],
    ['close', { connection: 'close' }],
  ]
  const chunks = (text: string) => Readable.from([...text].map((character) => Buffer.from(character)))
  for (const [url, type, text] of bodies)
    for (const [name, headers] of framings) {
      // Without a header of its framing, a head announces no body.
      const streams = 'transfer-encoding' in headers ? [chunks(text)] : []
      for (const payload of [text, Buffer.from(text), ...streams]) {
        const response = await app.inject({
          method: 'POST',
          url,
          headers: { 'content-type': type, ...headers },
          payload,
        })
        t.equal(response.statusCode, 200, `${url} ${name} ${response.payload}`)
      }
    }
})

t.test('an injected request with a wrong length or a failing body gets an error', async (t) => {
  const app = await serve(t)
  for (const [url, type, text] of bodies) {
    const send = (more: Partial<InjectOptions> & { headers?: object }) =>
      app.inject({ method: 'POST', url, payload: text, ...more, headers: { 'content-type': type, ...more.headers } })
    for (const length of ['0', '1', '999', '99999999999']) {
      const { statusCode } = await send({ headers: { 'content-length': length } })
      t.ok(statusCode < 500, `${url} with the length ${length}: ${statusCode}`)
    }
    const large = await send({ payload: 'a'.repeat(2_000), headers: { 'transfer-encoding': 'chunked' } })
    t.ok(large.statusCode < 500, `${url}: ${large.statusCode}`)
    t.equal((await send({ headers: { expect: 'more' } })).statusCode, 417, url)
    const failing = new Readable({
      read() {
        this.destroy(new Error('broken'))
      },
    })
    await send({ payload: failing }).then(
      ({ statusCode }) => t.ok(statusCode >= 400, url),
      () => t.pass(`${url}: the request is broken off`),
    )
  }
})
