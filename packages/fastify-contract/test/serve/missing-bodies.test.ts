import type { AddressInfo } from 'node:net'
import t from 'tap'
import { openSocket } from '../../../../test/support/open-socket.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import type { AnyHandler } from '../../src/serve/request-steps.ts'
import { serveDocument } from '../support/serve-document.ts'

const content = {
  'text/plain': { schema: { type: 'string' } },
  'image/png': {},
  'application/json': {},
  'application/x-www-form-urlencoded': {
    schema: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
  },
  'multipart/form-data': { schema: { type: 'object', properties: { a: { type: 'string' } } } },
}
const operation = (operationId: string, required: boolean) => ({
  post: {
    operationId,
    requestBody: { required, content },
    responses: { 200: { content: { 'application/json': {} } } },
  },
})
const document = {
  openapi: '3.1.0',
  info: { title: 'Bodies', version: '1' },
  paths: { '/required': operation('required', true), '/optional': operation('optional', false) },
} as unknown as Document

/** Sends the header section of a request and returns the response. */
async function post(path: string, ...headers: string[]): Promise<string> {
  const handler: unknown = async ({ body }: { body: unknown }) => {
    let bytes = 0
    if (typeof body === 'object') for await (const chunk of body as AsyncIterable<Buffer>) bytes += chunk.length
    return { status: 200, body: bytes }
  }
  const app = await serveDocument(document, {
    handlers: { required: handler as AnyHandler, optional: handler as AnyHandler },
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const { receives } = await openSocket(
    t,
    port,
    `${[`POST ${path} HTTP/1.1`, 'Host: a', ...headers].join('\r\n')}\r\n\r\n`,
  )
  return await receives(/\r\n\r\n.+$/s)
}

const typed = (mediaType: string) => `Content-Type: ${mediaType}${mediaType.startsWith('multi') ? '; boundary=b' : ''}`

t.test('a missing required body is rejected, whatever its media type', async (t) => {
  for (const mediaType of Object.keys(content)) {
    t.match(await post('/required', typed(mediaType)), /^HTTP\/1.1 400 /, mediaType)
  }
  for (const mediaType of ['text/plain', 'image/png']) {
    t.match(await post('/required', typed(mediaType)), /"error":40003,"message":"the body is missing"/, mediaType)
  }
})

t.test('empty text and empty bytes are a body', async (t) => {
  for (const mediaType of ['text/plain', 'image/png']) {
    t.match(await post('/required', typed(mediaType), 'Content-Length: 0'), /^HTTP\/1.1 200 /, mediaType)
    const chunked = await post('/required', typed(mediaType), 'Transfer-Encoding: chunked', '', '0')
    t.match(chunked, /^HTTP\/1.1 200 /, mediaType)
    t.match(await post('/optional', typed(mediaType)), /^HTTP\/1.1 200 /, mediaType)
  }
})

t.test('a 415 mentions the charset if the request names one', async (t) => {
  const rejection = (answer: string) => /"message":"(.*?)"/.exec(answer)?.[1]
  const types = Object.keys(content).join(' or ')
  t.equal(rejection(await post('/required', 'Content-Type: image/gif')), `the media type must be ${types}`)
  t.equal(rejection(await post('/required')), `the media type must be ${types}`)
  t.equal(
    rejection(await post('/required', 'Content-Type: text/plain; charset=latin1')),
    `the media type must be ${types}, with no charset but utf-8`,
  )
})
