import t from 'tap'
import { withServiceHeaders } from '../../src/docs/service-headers.ts'
import type { Document } from '../../src/document/openapi-document.ts'
import { clientTable } from '../../src/emit/client-json.ts'
import { compileDocument } from '../../src/emit/compile.ts'

const key = { name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } }
const json = (schema: object) => ({ description: 'A body.', content: { 'application/json': { schema } } })
const numbered = { type: 'object', required: ['error'], properties: { error: { type: 'integer' } } }

/** Returns a document with an operation that has idempotency keys, one that is safe, and one that declares none. */
const documentOf = (responses: object): Document => ({
  openapi: '3.1.0',
  info: { title: 'Keys', version: '1.0.0' },
  paths: {
    '/a': {
      parameters: [key],
      post: { operationId: 'create', description: 'Creates.', responses },
      get: { operationId: 'read', responses },
    },
    '/b': { post: { operationId: 'other', responses } },
  },
})

const responses = { 204: { description: 'Done.' }, 409: json(numbered), 500: json(numbered), default: json(numbered) }

t.test('the typed client knows the operations with idempotency keys', async (t) => {
  const table = clientTable(documentOf(responses), { nodes: [], responses: {} })
  t.same(table.keyed, ['POST /a'])
})

t.test('the documentation says how an operation with idempotency keys is repeated', async (t) => {
  type Shown = { description?: string; responses: Record<string, { headers?: object }> }
  const shown = withServiceHeaders(documentOf(responses)) as unknown as { paths: Record<string, Record<string, Shown>> }
  const create = shown.paths['/a']?.post
  t.match(create?.description, /^\*\*Safe to retry\.\*\* (?:.|\n)*422\.\n\nCreates\.$/)
  const marked = Object.entries(create?.responses ?? {}).filter(
    ([, { headers = {} }]) => 'Idempotent-Replayed' in headers,
  )
  t.same(
    marked.map(([status]) => status),
    ['204', '409', 'default'],
  )
  t.notMatch(JSON.stringify(shown.paths['/b']), /Idempotent/)
  t.notMatch(JSON.stringify(shown.paths['/a']?.get), /Idempotent/)
})

t.test('the errors of idempotency keys must match the responses that the operation declares', async (t) => {
  const declared = { ...responses, 409: json({ type: 'object', required: ['code'] }) }
  const errors = {
    path: 'errors.ts',
    errorBody: ({ error }: { error: number }) => ({ contentType: 'application/json', body: { error } }),
  }
  const compiled = compileDocument(documentOf(declared), 'a.yaml', { errors, skipUnsupported: false })
  await t.rejects(compiled, { message: /#\/paths\/~1a\/post\/responses\/409\/content: the body of errors 409/ })
  await compileDocument(documentOf(responses), 'a.yaml', { errors, skipUnsupported: false })
})
