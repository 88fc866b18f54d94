import t from 'tap'
import { failuresOfMock, failuresOfServed } from './mocked-document.ts'
import { documentOf } from './test-application.ts'

// Those with the most kinds of requests; mocked-documents.long.ts tests the mocks of all.
for (const name of ['bodies', 'forms', 'parameters', 'security', 'version-3-2'])
  t.test(`the mock of ${name} fails no check`, async (t) => t.same(await failuresOfServed(name, 60), []))

t.test('an error of the engine has a body also where the document describes it by its status alone', async (t) => {
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int32' } }]
  const responses = { 204: { description: 'Done.' }, 400: { description: 'Invalid.' } }
  const document = documentOf({ '/pets/{id}': { get: { operationId: 'getPet', parameters, responses } } })
  t.same(await failuresOfMock(document, { path: 'openapi.yaml', requests: 60 }), [])
})
