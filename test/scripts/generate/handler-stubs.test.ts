import t from 'tap'
import { handlerStubs } from '../../../scripts/generate/handler-stubs.ts'
import type { Document } from '../../../scripts/generate/openapi-document.ts'

const int64 = { type: 'integer', format: 'int64' }
const json = (schema: object, example?: unknown) => ({ content: { 'application/json': { schema, example } } })

function documentOf(operations: Record<string, object>): Document {
  const paths = Object.entries(operations).map(([operationId, operation]) => [
    `/${operationId}`,
    { get: { operationId, ...operation } },
  ])
  return { openapi: '3.1.0', info: { title: '', version: '' }, paths: Object.fromEntries(paths) }
}

t.test('a new operation gets a handler that answers with its example, exactly', async (t) => {
  const reply = { type: 'object', properties: { id: int64, 'x-y': {}, tags: {}, count: { type: 'integer' } } }
  const example = { id: 7, 'x-y': null, tags: ["it's", '"\n', {}], count: 1 }
  const parameters = [
    { name: 'id', in: 'path', required: true, schema: int64 },
    { name: 'plant-id', in: 'query', schema: int64 },
  ]
  const get = { parameters, requestBody: json({}), responses: { 200: json(reply, example) } }
  const document = documentOf({ get, old: { responses: { 204: {} } }, remove: { responses: { 204: {} } } })
  t.same(handlerStubs(document, documentOf({ old: {} })), [
    [
      '  async get() {',
      "    // It takes body, path.id, query['plant-id'].",
      String.raw`    return { status: 200, body: { id: 7n, 'x-y': null, tags: ['it\'s', '"\n', {}], count: 1 } }`,
      '  },',
    ].join('\n'),
    '  async remove() {\n    return { status: 204, body: undefined }\n  },',
  ])
  t.equal(handlerStubs(document, undefined).length, 3)
  t.same(handlerStubs(document, document), [])
})

t.test('an example that breaks its schema is given as it is', async (t) => {
  const document = documentOf({ a: { responses: { 200: json(int64, 'seven') } } })
  t.match(handlerStubs(document, undefined), [/body: 'seven' \}/])
})
