import { exampleCommand } from 'fastify-contract/contract'
import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'

const json = (schema: object) => ({ 'application/json': { schema } })
const object = { type: 'object', properties: { name: { type: 'string' } } }
const success = { 200: { description: 'Done.', content: json(object) } }
const error = { 400: { description: 'Wrong.' } }
const impossible = {
  200: { description: 'Never.', content: json({ type: 'object', required: ['a'], maxProperties: 0 }) },
}
const file = { required: true, content: { 'image/png': {} } }

const securitySchemes = {
  digest: { type: 'http', scheme: 'digest' },
  mutual: { type: 'mutualTLS' },
  bearer: { type: 'http', scheme: 'bearer' },
  basic: { type: 'http', scheme: 'basic' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
}

/** Returns the curl command of a document whose operations are those, at the paths of their names. */
async function curlOf(operations: Record<string, object>): Promise<string | undefined> {
  const paths: Record<string, object> = {}
  for (const [operationId, operation] of Object.entries(operations))
    paths[`/${operationId}`] = { post: { operationId, ...operation } }
  const document = { openapi: '3.1.0', info: { title: 'a', version: '1' }, components: { securitySchemes }, paths }
  const { contract } = await compileDocument(document as Document, 'a.yaml')
  return exampleCommand(contract.routes, 'http://localhost', 'TOKEN')
}

t.test('the curl calls the first operation whose response is a success', async (t) => {
  const redirect = { 302: { description: 'Elsewhere.' } }
  const operations = {
    error: { responses: error },
    impossible: { responses: impossible },
    redirect: { responses: redirect },
  }
  t.equal(await curlOf({ ...operations, done: { responses: success } }), "curl -X POST 'http://localhost/done'")
  t.equal(await curlOf(operations), "curl -X POST 'http://localhost/error'", 'the first one if none has a success')
  t.equal(
    await curlOf({ file: { requestBody: file, responses: success }, done: { responses: success } }),
    "curl -X POST 'http://localhost/done'",
  )
  t.match(await curlOf({ ...operations, file: { requestBody: file, responses: success } }), '/file')
})

t.test('the curl has credentials for which a new project has a verifier', async (t) => {
  const secured = (...security: object[]) => ({ security, responses: success })
  const digest = secured({ digest: [] })
  t.match(
    await curlOf({
      digest,
      mutual: secured({ mutual: [] }),
      both: secured({ bearer: [], basic: [] }),
      open: secured(),
    }),
    '/open',
  )
  t.match(await curlOf({ digest }), '/digest')
  t.equal(
    await curlOf({ choice: secured({ digest: [] }, { bearer: [] }) }),
    "curl -X POST 'http://localhost/choice' \\\n  -H 'Authorization: Bearer TOKEN'",
  )
  t.equal(
    await curlOf({ both: secured({ basic: [], cookie: [] }) }),
    "curl -X POST 'http://localhost/both' \\\n  -H 'Authorization: Basic YWNjZXNzLXRva2VuLTE6VE9LRU4=' \\\n  -H 'Cookie: session=TOKEN'",
  )
})
