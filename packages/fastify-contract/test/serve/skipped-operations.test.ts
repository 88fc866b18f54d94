import t from 'tap'
import { compileDocument } from '../../src/compile/compile.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { createServer } from '../../src/index.ts'

const responses = { 204: { description: 'Done.' } }
const unsupported = { requestBody: { content: { 'application/json': {} } }, responses }
const document = {
  openapi: '3.1.0',
  info: { title: 'Test', version: '1' },
  servers: [{ url: 'https://example.com/v1' }],
  paths: {
    '/pets': { get: { operationId: 'listPets', responses }, trace: { operationId: 'tracePets', responses } },
    '/pets/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: { operationId: 'getPet', ...unsupported },
      put: { operationId: 'putPet', responses, servers: [{ url: '/v2' }] },
    },
    '/pets/special': { put: { operationId: 'putSpecial', responses, servers: [{ url: '/v2' }] } },
    '/files/*': { get: { operationId: 'getFiles', responses } },
  },
} as unknown as Document

t.test('with skipUnsupported the rest is served, and a request to a skipped operation gets 501', async (t) => {
  const { files, routes } = await compileDocument(document, 'a.yaml', { skipUnsupported: true })
  const skipped: { operation: string; reasons: string[] }[] = JSON.parse(files['skipped-operations.json'] as string)
  t.match(skipped, [
    { operation: 'GET /files/*', reasons: [/^#\/paths\/~1files~1\*: \/v1\/files\/\* contains \*/] },
    { operation: 'TRACE /pets', reasons: [/TRACE is not supported/] },
    { operation: 'GET /pets/{id}', reasons: [/a request body of GET is not supported/] },
  ])
  t.same(
    routes.operations.map(({ operationId }) => operationId),
    ['listPets', 'putPet', 'putSpecial'],
  )
  const handler = async () => ({ status: 204, body: undefined })
  const app = createServer<object>({
    contract: { routes: JSON.parse(files['routes.json'] as string) },
    handlers: { listPets: handler, putPet: handler, putSpecial: handler } as object,
    verifiers: {},
    errorBody: ({ error, message }) => ({ contentType: 'application/json', body: { error, message } }),
  })
  t.equal((await app.inject('/v1/pets')).statusCode, 204)
  const { statusCode, body } = await app.inject('/v1/pets/7')
  t.equal(statusCode, 501)
  t.equal(body, '{"error":50100,"message":"this operation is not supported"}')
  const wrong = await app.inject({ method: 'DELETE', url: '/v1/pets/7' })
  t.match(wrong, { statusCode: 405, headers: { allow: 'GET, HEAD' } })
  t.equal((await app.inject('/v1/files/a')).statusCode, 404, 'its path cannot be routed')
})

t.test('a document of which nothing can be served is rejected, and one without problems has no list', async (t) => {
  const paths = { '/files/*': document.paths?.['/files/*'] as object }
  await t.rejects(compileDocument({ ...document, paths }, 'a.yaml', { skipUnsupported: true }), {
    message: /1 problem costs 1 of 1 operations$/,
  })
  const whole = { ...document, 'x-error-numbers': { a: { error: 1 } } }
  await t.rejects(compileDocument(whole as Document, 'a.yaml', { skipUnsupported: true }), {
    message: /whole document$/,
  })
  const fine = { '/pets': { get: { operationId: 'listPets', responses } } }
  const { files } = await compileDocument({ ...document, paths: fine }, 'a.yaml', { skipUnsupported: true })
  t.notOk('skipped-operations.json' in files)
  t.notMatch(files['routes.json'], 'skipped')
  const { message } = (await compileDocument(document, 'a.yaml').catch(
    (error: Error) => error as Error & object,
  )) as Error
  t.match(message, /\n3 problems cost 3 of 6 operations; --skip-unsupported serves the others$/)
  const webhooks = { sent: { post: { responses } } }
  await t.rejects(compileDocument({ ...document, webhooks } as Document, 'a.yaml'), {
    message: /\n3 problems cost 3 of 7 operations and webhooks; /,
  })
})
