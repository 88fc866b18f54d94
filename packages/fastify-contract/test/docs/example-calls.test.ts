import Fastify from 'fastify'
import t from 'tap'
import { exampleCalls, exampleCurl } from '../../src/docs/example-calls.ts'

const done = { 204: { description: 'Done.' } }
const schemes = {
  token: { type: 'http', scheme: 'bearer' },
  password: { type: 'http', scheme: 'basic' },
  key: { type: 'apiKey', in: 'query', name: 'key' },
}
const file = { type: 'string', format: 'binary' }
const bodies = {
  json: { 'application/json': { schema: { type: 'integer', format: 'int64' }, example: 7 } },
  form: { 'application/x-www-form-urlencoded': { schema: { properties: { a: { type: 'string', example: 'b c' } } } } },
  image: { 'image/png': {} },
  parts: {
    'multipart/form-data': { schema: { properties: { a: { type: 'string', example: 'b' }, photo: file } } },
  },
}

const documentOf = (paths: object, more: object = {}) => ({
  documentText: JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Test', version: '1' },
    servers: [{ url: 'https://example.com/v1/' }],
    components: { securitySchemes: schemes },
    paths,
    ...more,
  }),
})
const postOf = ([name, content]: [string, object]) => [
  `/${name}`,
  { post: { operationId: name, requestBody: { content }, responses: done } },
]

t.test('the example calls have credentials with the token, and bodies of every kind', async (t) => {
  const secured = Object.keys(schemes).map((name) => [
    `/${name}/{id}`,
    {
      get: {
        operationId: name,
        security: [{ [name]: [] }],
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', example: 'a b' } }],
        responses: done,
      },
    },
  ])
  const paths = Object.fromEntries([...secured, ...Object.entries(bodies).map(postOf)])
  const calls = exampleCalls(documentOf(paths), 'secret')
  t.same(
    calls.slice(0, 3).map(({ operationId, request: { method, url, headers } }) => [operationId, method, url, headers]),
    [
      ['token', 'GET', '/v1/token/a%20b', { Authorization: 'Bearer secret' }],
      ['password', 'GET', '/v1/password/a%20b', { Authorization: `Basic ${btoa('access-token-1:secret')}` }],
      ['key', 'GET', '/v1/key/a%20b?key=secret', {}],
    ],
  )
  const app = Fastify()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.post('/v1/*', async ({ headers, body }) => `${headers['content-type']} ${body}`)
  const sent = await Promise.all(calls.slice(3).map(async ({ request }) => (await app.inject(request)).body))
  t.same(sent.slice(0, 3), ['application/json 7', 'application/x-www-form-urlencoded a=b%20c', 'image/png example.png'])
  t.match(sent[3], /^multipart\/form-data; boundary=/)
  t.match(sent[3], /name="a"\r\n\r\nb\r\n/)
  t.match(sent[3], /name="photo"; filename="photo\.bin"\r\nContent-Type: application\/octet-stream\r\n\r\nphoto\.bin/i)
})

t.test('the example curl calls the first operation that needs no file', (t) => {
  const entries = Object.entries(bodies).reverse()
  const curl = exampleCurl('http://127.0.0.1:3000', 'secret', documentOf(Object.fromEntries(entries.map(postOf))))
  t.match(curl, /^curl -X POST 'http:\/\/127\.0\.0\.1:3000\/v1\/form' /)
  const files = exampleCurl('http://a', 'b', documentOf(Object.fromEntries(entries.slice(0, 2).map(postOf))))
  t.match(files, /^curl -X POST 'http:\/\/a\/v1\/parts' (.*\\\n)*.*-F 'photo=@photo\.bin;type=/)
  t.equal(exampleCurl('http://a', 'b', documentOf({})), undefined)
  t.end()
})
