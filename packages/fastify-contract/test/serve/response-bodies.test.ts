import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import t from 'tap'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import type { AnyHandler } from '../../src/serve/request-steps.ts'
import { serveDocument } from '../support/serve-document.ts'

const text = { type: 'string', maxLength: 2 }
const number = { schema: { type: 'integer' } }

const document = {
  openapi: '3.1.0',
  info: { title: 'Bodies', version: '1' },
  paths: {
    '/a': {
      get: {
        operationId: 'a',
        responses: {
          200: { content: { 'text/plain': { schema: text }, 'application/json': number } },
          201: { content: { 'text/plain': { schema: text } } },
          202: { content: { 'text/*': number } },
          203: { content: { '*/*': number } },
        },
      },
    },
  },
} as unknown as Document

const answer = async (outcome: object) => {
  const app = await serveDocument(document, { handlers: { a: (async () => outcome) as unknown as AnyHandler } })
  const { statusCode, body, headers } = await app.inject('/a')
  return [statusCode, statusCode === 500 ? JSON.parse(body).error : body, headers['content-type']]
}

t.test('a response body is written as its media type requires', async (t) => {
  const plain = 'text/plain; charset=utf-8'
  const json = 'application/json; charset=utf-8'
  t.same(await answer({ status: 200, contentType: 'text/plain', body: 'ab' }), [200, 'ab', plain])
  t.same(await answer({ status: 200, contentType: 'application/json', body: 7 }), [200, '7', json])
  t.same(await answer({ status: 201, contentType: 'text/plain', body: 'ab' }), [201, 'ab', plain])
  t.same(await answer({ status: 202, contentType: 'text/html', body: '<p>' }), [202, '<p>', 'text/html; charset=utf-8'])
  t.same(await answer({ status: 203, contentType: 'application/json', body: 7 }), [203, '7', json])
  t.same(await answer({ status: 203, contentType: 'application/json', body: Buffer.from('8') }), [203, '8', json])
})

t.test('a response body of the wrong type becomes a 500', async (t) => {
  const wrong = [
    { status: 200, body: 7 },
    { status: 200, contentType: 'text/csv', body: 'a' },
    { status: 200, contentType: 'text/plain', body: 'abc' },
    { status: 200, contentType: 'text/plain', body: 7 },
    { status: 200, contentType: 'application/json', body: 'a' },
    { status: 200, contentType: 'application/json', body: Buffer.from('7') },
    { status: 200, contentType: 'application/json', body: Readable.from(['7']) },
    { status: 201, contentType: 'text/html', body: 'a' },
    { status: 202, body: 'a' },
    { status: 202, contentType: 'image/png', body: 'a' },
    { status: 202, contentType: 'text/', body: 'a' },
    { status: 202, contentType: 'text/*', body: 'a' },
    { status: 203, contentType: 'text/plain;a=b\r\nX-Evil: c', body: 'a' },
    { status: 203, contentType: 'application/json', body: 'a' },
    { status: 203, contentType: 'image/png', body: 7 },
  ]
  for (const outcome of wrong) t.match(await answer(outcome), [500, 50000], inspect(outcome, { depth: 0 }))
})
