import { diagnose } from 'fastify-contract-test-support/compiler'
import t from 'tap'
import { type Document, endpoints } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { handlerStubs } from '../../src/emit/handler-stubs.ts'
import { exampleRequest } from '../../src/examples/example-request.ts'
import { mockServer } from '../../src/mock/mock-server.ts'
import { ownPath } from '../support/own-path.ts'

const text = { type: 'string' }
const json = { 'application/json': { schema: text, example: 'text' } }
const etag = { ETag: { schema: text, example: 'v1' } }
const date = 'Sun, 06 Nov 1994 08:49:37 GMT'
const dated = { ...etag, 'Last-Modified': { schema: text, example: date } }
const empty = { description: 'None.' }

const document = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  paths: {
    '/note': {
      get: {
        operationId: 'getNote',
        responses: { 200: { description: 'a', headers: dated, content: json }, 304: empty },
      },
      put: {
        operationId: 'putNote',
        responses: { 204: { description: 'a', headers: etag }, 412: empty, 428: empty },
      },
    },
    '/digest': {
      get: {
        operationId: 'getDigest',
        'x-etag': 'body',
        responses: {
          200: { description: 'a', headers: { ETag: { required: true, schema: text } }, content: json },
          304: empty,
        },
      },
    },
  },
} as unknown as Document

const compiled = await compileDocument(document, 'notes.yaml')

t.test('the mock compares preconditions with the examples', async (t) => {
  const errorBody = () => ({ contentType: 'application/json', body: {} })
  const { app } = mockServer(compiled.contract, errorBody, {})
  t.teardown(() => app.close())
  for (const [method, headers, expected] of [
    ['GET', {}, 200],
    ['GET', { 'if-none-match': '"v1"' }, 304],
    ['GET', { 'if-modified-since': date }, 304],
    ['PUT', {}, 428],
    ['PUT', { 'if-match': '"v1"' }, 204],
    ['PUT', { 'if-match': '"v0"' }, 412],
    ['PUT', { 'if-none-match': '*' }, 204],
  ] as const)
    t.equal(
      (await app.inject({ method, url: '/note', headers })).statusCode,
      expected,
      `${method} ${Object.entries(headers)}`,
    )
  t.equal((await app.inject('/note')).headers.etag, '"v1"')
  t.match((await app.inject('/digest')).headers.etag, /^"[\w-]{43}"$/)
})

t.test('the example of a request that needs a precondition has one', async (t) => {
  const [read, written] = endpoints(document).map((endpoint) => exampleRequest(document, endpoint).headers)
  t.same([read, written], [{}, { 'If-Match': '*' }])
})

t.test('a new handler checks preconditions, and its tags are quoted', async (t) => {
  const stubs = handlerStubs(compiled, undefined)
  t.match(stubs[0], `ETag: '"v1"'`)
  t.match(stubs[1], /async putNote\(\{ preconditions \}\)/)
  t.match(stubs[1], `checked: preconditions.check({ etag: '"1"' }), `)
  const directory = `${ownPath('test/documents')}/conditional`
  const texts: Record<string, string> = {
    [`${directory}/handlers.ts`]: [
      "import type { Handlers } from './handler-types.d.ts'",
      `export const handlers: Handlers = {\n${stubs.join('\n')}\n}\n`,
    ].join('\n'),
  }
  for (const name of ['api.d.ts', 'handler-types.d.ts']) texts[`${directory}/${name}`] = compiled.files[name] as string
  t.same(diagnose([`${directory}/handlers.ts`], texts), [])
})
