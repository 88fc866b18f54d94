import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { isNode, type Node } from '../../src/document/walk-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { generatedContract, mockServer } from '../../src/mock/mock-server.ts'
import { errorBody } from '../support/serve-document.ts'

const done = { 204: { description: 'Done.' } }
const text = { schema: { type: 'string' } }

/** A document with each object of OpenAPI that may be extended. */
const documentOf = (openapi: string) => ({
  openapi,
  info: { title: 'Extensions', version: '1', contact: { name: 'a' }, license: { name: 'b' } },
  servers: [{ url: '/{v}', variables: { v: { default: 'v1' } } }],
  paths: {
    '/a/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      post: {
        operationId: 'a',
        parameters: [{ name: 'b', in: 'query', content: { 'application/json': {} } }],
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: { type: 'object', properties: { a: { type: 'string', xml: { name: 'a' } } } },
              encoding: { a: { contentType: 'text/plain' } },
            },
            'x-world/x-vrml': text,
          },
        },
        responses: {
          200: {
            description: 'd',
            headers: { A: text },
            content: { 'text/plain': { ...text, examples: { a: { value: '' } } } },
          },
          default: { $ref: '#/components/responses/Error' },
        },
        callbacks: { sent: { 'https://a.example': { post: { responses: done } } } },
        security: [{ key: [] }],
      },
    },
  },
  components: {
    responses: { Error: { description: 'e', content: { 'application/json': { schema: { type: 'object' } } } } },
    securitySchemes: {
      key: { type: 'oauth2', flows: { implicit: { authorizationUrl: 'https://a.example', scopes: { read: 'a' } } } },
    },
  },
  tags: [{ name: 'a', externalDocs: { url: 'https://a.example' } }],
})

/** Members that are names, so that what looks like an extension would be one of them. */
const names = [
  'properties',
  'examples',
  'headers',
  'encoding',
  'schemas',
  'responses',
  'securitySchemes',
  'variables',
  'scopes',
]

/** Returns a copy of a document with an extension in each object that allows one. */
function extended(node: unknown, value: unknown, isMap = false): unknown {
  if (Array.isArray(node)) return node.map((each) => extended(each, value))
  if (!isNode(node)) return node
  const members = Object.entries(node).map(([key, each]): [string, unknown] => [
    key,
    key === 'security' ? each : extended(each, value, names.includes(key) && !isResponses(key, each)),
  ])
  const isExtended = !isMap && !('value' in node)
  return { ...(Object.fromEntries(members) as Node), ...(isExtended && { 'x-extension': value }) }
}

/** Returns whether a member has the responses of an operation, and not those of the components. */
const isResponses = (key: string, value: unknown): boolean => key === 'responses' && !('Error' in (value as Node))

for (const version of ['3.0.3', '3.1.0', '3.2.0'])
  t.test(`an extension may have any value, wherever it stands in a document of ${version}`, async (t) => {
    const expected = await compileDocument(documentOf(version) as unknown as Document, 'a.yaml')
    for (const value of [null, 2, [1], { $ref: '#/nowhere' }]) {
      const document = extended(documentOf(version), value) as Document
      const { files, warnings, routes } = await compileDocument(document, 'a.yaml')
      t.same(warnings, expected.warnings, JSON.stringify(value))
      t.same(routes, expected.routes)
      t.equal(files['api.d.ts'], expected.files['api.d.ts'])
      t.same(JSON.parse(files['openapi.json'] as string), document, 'the published document has the extensions')
      const { app } = mockServer(await generatedContract(t.testdir(files)), errorBody, {})
      t.teardown(() => app.close())
      await app.ready()
    }
  })
