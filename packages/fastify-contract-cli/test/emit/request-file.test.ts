import { parseRequestFile as parse } from 'fastify-contract-test-support/request-file'
import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { requestFile } from '../../src/emit/requests-http.ts'
import { normalizedDocument } from '../../src/passes/normalize.ts'
import { serveDocument } from '../support/serve-document.ts'

const string = { type: 'string' }
const list = { type: 'array', items: string }
const components = {
  parameters: { X: { in: 'header', name: 'X-Tags', required: true, schema: list, example: ['a', 'b\nc'] } },
  securitySchemes: {
    'api.key': { type: 'apiKey', in: 'header', name: 'X-Key' },
    query: { type: 'apiKey', in: 'query', name: 'key' },
    cookie: { type: 'apiKey', in: 'cookie', name: 'key' },
    basic: { type: 'http', scheme: 'Basic' },
    token: { type: 'http', scheme: 'bearer' },
    certificate: { type: 'mutualTLS' },
  },
}
const responses = { 204: { description: 'Done.' } }

const shelves = {
  openapi: '3.1.0',
  info: { title: 'Shelves', version: '1.0.0' },
  servers: [{ url: 'https://{stage}.example.com/v1', variables: { stage: { default: 'test' } } }],
  components,
  paths: {
    '/shelves/{shelf}/books': {
      get: {
        operationId: 'listBooks',
        summary: 'List\n  books',
        security: [{ token: [], query: [], cookie: [] }, {}],
        parameters: [
          { in: 'path', name: 'shelf', required: true, schema: string, example: 'a/b $& é' },
          { in: 'query', name: 'tag[]', schema: list, example: ['x y', 'z'] },
          {
            in: 'query',
            name: 'pipe',
            style: 'pipeDelimited',
            explode: false,
            schema: list,
            examples: { one: { value: ['1', '2'] } },
          },
          { in: 'query', name: 'flat', explode: false, schema: list, example: ['1', '2'] },
          { in: 'query', name: 'left-out', schema: string },
          { in: 'cookie', name: 'theme', schema: string, example: 'dark;' },
          { $ref: '#/components/parameters/X' },
        ],
        responses,
      },
      put: {
        operationId: 'replaceBooks',
        security: [{ 'api.key': [], basic: [], certificate: [] }],
        parameters: [
          { in: 'path', name: 'shelf', required: true, schema: { type: 'integer', format: 'int64', examples: [7] } },
        ],
        requestBody: { required: true, content: { 'application/json': { schema: string, example: 'a\n### b' } } },
        responses,
      },
    },
  },
} as unknown as Document

t.test('parameters, credentials and bodies stand where the document puts them', async (t) => {
  t.equal(
    requestFile(normalizedDocument(shelves)),
    `# fastify-contract mock accepts any token. To call a service, copy this file, since generate overwrites it, and set the
# origin and a token in the copy.

@origin = http://127.0.0.1:3000
@token = ACCESS_TOKEN
@query = ACCESS_TOKEN
@cookie = ACCESS_TOKEN
@api_key = ACCESS_TOKEN
@basic = ACCESS_TOKEN

### List books
# @name listBooks
GET {{origin}}/v1/shelves/a%2Fb%20%24%26%20%C3%A9/books
    ?tag%5B%5D=x%20y
    &tag%5B%5D=z
    &pipe=1%7C2
    &flat=1,2
    &key={{query}}
Authorization: Bearer {{token}}
X-Tags: a,b c
Cookie: theme=dark%3B; key={{cookie}}

### replaceBooks
# @name replaceBooks
PUT {{origin}}/v1/shelves/7/books
X-Key: {{api_key}}
Authorization: Basic {{basic}}
Content-Type: application/json

"a\\n### b"
`,
  )
})

t.test('a value without an example is made from its schema and is not empty', async (t) => {
  const parameter = (place: string, name: string, schema: object, required = true) => ({
    in: place,
    name,
    schema,
    required,
  })
  const operation = {
    operationId: 'a',
    parameters: [
      parameter('path', 'name', string),
      parameter('path', 'ext', { type: 'string', pattern: '^z*$' }),
      parameter('query', 'kind', list),
      parameter('query', 'empty', { type: 'string', maxLength: 0 }),
      parameter('query', 'none', string, false),
    ],
    requestBody: { content: { 'text/plain': { schema: string } } },
    responses,
  }
  const document = { openapi: '3.1.0', info: shelves.info, paths: { '/files/{name}.{ext}': { put: operation } } }
  const [, request] = requestFile(normalizedDocument(document as never)).split('# @name a\n')
  t.equal(
    request,
    `PUT {{origin}}/files/name.z
    ?kind=kind
    &empty=
Content-Type: text/plain

text
`,
  )
})

t.test('a document without security and servers gets requests without credentials to a default address', async (t) => {
  const open = {
    ...shelves,
    servers: [{ url: '/v1' }],
    security: [],
    paths: { '/a': { get: { operationId: 'a', responses } } },
  }
  const text = requestFile(normalizedDocument(open))
  t.equal(text, '\n@origin = http://127.0.0.1:3000\n\n### a\n# @name a\nGET {{origin}}/v1/a\n')
})

t.test('the service reads the requests as the document shows them', async (t) => {
  const seen: unknown[] = []
  const see = async ({ path, query, header, body }: Record<string, unknown>) => {
    seen.push({ path, query, header, body })
    return { status: 204, body: undefined }
  }
  const accept = () => (_request: unknown, done: (error?: Error) => void) => done()
  const verifiers = Object.fromEntries(Object.keys(components.securitySchemes).map((name) => [name, accept]))
  const handlers = { listBooks: see, replaceBooks: see }
  const app = await serveDocument(shelves, { handlers, verifiers } as never)
  for (const { name, ...request } of parse(requestFile(normalizedDocument(shelves)), {}))
    t.equal((await app.inject(request)).statusCode, 204, String(name))
  t.match(seen, [
    {
      path: { shelf: 'a/b $& é' },
      query: { 'tag[]': ['x y', 'z'], pipe: ['1', '2'], flat: ['1', '2'] },
      header: { 'X-Tags': ['a', 'b c'] },
    },
    { path: { shelf: 7n }, body: 'a\n### b' },
  ])
})

t.test('each request has a name of its own, also where operationIds differ in characters no name has', async (t) => {
  const operation = (operationId: string) => ({ operationId, responses: { 204: { description: 'Done' } } })
  const ids = ['put_a#add', 'put_a_add', 'put_a/add']
  const paths = Object.fromEntries(ids.map((id, index) => [`/${index}`, { get: operation(id) }]))
  const requests = parse(requestFile({ openapi: '3.1.0', info: shelves.info, paths }), {})
  t.same(
    requests.map(({ name }) => name),
    ['put_a_add', 'put_a_add_', 'put_a_add__'],
  )
})
