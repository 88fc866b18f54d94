import t from 'tap'
import { withServiceHeaders } from '../../src/docs/service-headers.ts'
import type { Document } from '../../src/document/openapi-document.ts'

const text = { schema: { type: 'string' } }
const empty = { description: 'None.' }
const ifMatch = { name: 'if-match', in: 'header', description: 'own', ...text }
const page = { name: 'page', in: 'query', ...text }
const dated = { description: 'One.', headers: { ETag: text, 'Last-Modified': text } }
const document = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  paths: {
    '/note': {
      get: { operationId: 'getNote', parameters: [page], responses: { 200: dated, 304: empty } },
      put: { operationId: 'putNote', responses: { 204: dated, 412: empty, 428: empty } },
      delete: { operationId: 'deleteNote', parameters: [ifMatch], responses: { 204: empty, 412: empty } },
      post: { operationId: 'addNote', responses: { 204: dated } },
    },
  },
} as unknown as Document

t.test('the documentation page shows the preconditions of an operation as header parameters', async (t) => {
  const shown = withServiceHeaders(document) as unknown as {
    paths: Record<string, Record<string, { parameters?: { name: string; description?: string }[] }>>
  }
  const parametersOf = (method: string) => shown.paths['/note']?.[method]?.parameters ?? []
  const namesOf = (method: string) => parametersOf(method).map(({ name }) => name)
  t.same(namesOf('get'), ['page', 'If-None-Match', 'If-Modified-Since'])
  t.same(namesOf('put'), ['If-None-Match', 'If-Match', 'If-Unmodified-Since'])
  t.match(parametersOf('put')[1]?.description, /without a precondition gets 428/)
  t.same(namesOf('delete'), ['if-match', 'If-None-Match'])
  t.same(namesOf('post'), [])
})
