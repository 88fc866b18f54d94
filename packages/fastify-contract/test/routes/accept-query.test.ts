import { fastify, type InjectOptions } from 'fastify'
import type { Document } from 'fastify-contract-cli/testing'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import t from 'tap'
import { acceptQuery } from '../../src/contract/media-types.ts'
import { contractPlugin } from '../../src/routes/contract-plugin.ts'
import { crossOriginNames } from '../../src/routes/register-routes.ts'
import { compileRoutes, errorBody, serveDocument } from '../support/serve-document.ts'

const responses = { 204: { description: 'Done.' }, default: { description: 'Failed.' } }
const body = (...types: string[]) => ({
  required: true,
  content: Object.fromEntries(types.map((type) => [type, { schema: {} }])),
})

/** Returns a document of these paths. Its operations have no operationIds. */
const documentOf = (paths: NonNullable<Document['paths']>): Document => ({
  openapi: '3.2.0',
  info: { title: 'Boxes', version: '1.0.0' },
  paths,
})

const done = async () => ({ status: 204, body: undefined }) as never

const handlersOf = (document: Document) =>
  Object.fromEntries(compileRoutes(document).operations.map(({ operationId }) => [operationId, done]))

/** Returns a function that requests a server of these paths, and returns the status and Accept-Query of the response. */
async function served(paths: NonNullable<Document['paths']>) {
  const document = documentOf(paths)
  const app = await serveDocument(document, { handlers: handlersOf(document) as never })
  return async function acceptQuery(method: string, url: string, more: Omit<InjectOptions, 'method' | 'url'> = {}) {
    const { statusCode, headers } = await app.inject({ method: method as 'GET', url, ...more })
    return [statusCode, headers['accept-query']]
  }
}

const json = { headers: { 'content-type': 'application/json' }, payload: '1' }

t.test('each response of a path with a QUERY operation has Accept-Query', async (t) => {
  const ask = await served({
    '/boxes': {
      get: { responses },
      post: { requestBody: body('text/csv'), responses },
      query: { requestBody: body('application/json', 'text/plain'), responses },
    },
    '/shelves': { get: { responses } },
  })
  const types = '"application/json", "text/plain"'
  t.same(await ask('QUERY', '/boxes', json), [204, types])
  t.same(await ask('GET', '/boxes?a=1'), [204, types])
  t.same(await ask('HEAD', '/boxes'), [204, types])
  t.same(await ask('QUERY', '/boxes', { headers: { 'content-type': 'application/sql' }, payload: '1' }), [415, types])
  t.same(await ask('QUERY', '/boxes', { payload: Buffer.from('1') }), [415, types], 'no media type')
  t.same(await ask('QUERY', '/boxes', { ...json, payload: '{' }), [400, types])
  t.same(await ask('POST', '/boxes', json), [415, types])
  t.same(await ask('OPTIONS', '/boxes'), [405, types])
  t.same(await ask('PUT', '/boxes'), [405, types])
  t.same(await ask('GET', '/shelves'), [204, undefined])
  t.same(await ask('QUERY', '/shelves', json), [405, undefined])
  t.same(await ask('GET', '/none'), [404, undefined])
})

t.test('parameters of a media type are parameters of a structured field', async (t) => {
  const types = ['text/*', 'application/sql;charset=UTF-8', 'application/a; B="c \\"d\\\\"']
  t.equal(acceptQuery(types), '"text/*", "application/sql";charset="UTF-8", "application/a";b="c \\"d\\\\"')
  // Structured fields have neither keys that begin with a digit nor strings with a tab.
  const unwritable = ['application/b;1=2', 'application/c;d="\t"']
  t.equal(acceptQuery(unwritable), '')
  const ask = await served({ '/none': { query: { requestBody: body(...unwritable), responses } } })
  t.same(await ask('GET', '/none'), [405, undefined])
})

t.test('Accept-Query is that of the most concrete path', async (t) => {
  const ask = await served({
    '/boxes/{id}': {
      get: { parameters: [{ name: 'id', in: 'path', required: true, schema: {} }], responses },
      parameters: [{ name: 'id', in: 'path', required: true, schema: {} }],
      query: { requestBody: body('application/json'), responses },
    },
    '/boxes/mine': { get: { responses } },
  })
  t.same(await ask('GET', '/boxes/7'), [204, '"application/json"'])
  t.same(await ask('DELETE', '/boxes/7'), [405, '"application/json"'])
  t.same(await ask('GET', '/boxes/mine'), [204, undefined])
  t.same(await ask('QUERY', '/boxes/mine', json), [405, undefined])
})

t.test('operations that share a path by their media types are listed together', async (t) => {
  const query = (type: string, name: string) => ({ requestBody: body(type), operationId: name, responses })
  const ask = await served({
    '/boxes': { query: query('application/json', 'byJson') },
    '/boxes#text': { query: query('text/plain', 'byText') },
  })
  const types = '"application/json", "text/plain"'
  t.same(await ask('QUERY', '/boxes', json), [204, types])
  t.same(await ask('QUERY', '/boxes', { headers: { 'content-type': 'text/csv' }, payload: '1' }), [415, types])
})

t.test('a plugin with a prefix sends Accept-Query', async (t) => {
  const document = documentOf({
    '/': { query: { requestBody: body('application/json'), responses } },
    '/boxes': { get: { responses }, query: { requestBody: body('application/json'), responses } },
  })
  const app = fastify()
  t.teardown(() => app.close())
  const contract = { routes: compileRoutes(document) }
  const handlers = handlersOf(document)
  await app.register(contractPlugin, { prefix: '/:shop', contract, handlers, verifiers: {}, errorBody } as never)
  app.get('/own', async () => 'own')
  for (const [method, url, status] of [
    ['GET', '/north/boxes', 204],
    ['PUT', '/north/boxes', 405],
    ['GET', '/north/', 405],
  ] as const) {
    const { statusCode, headers } = await app.inject({ method, url })
    t.same([statusCode, headers['accept-query']], [status, '"application/json"'], `${method} ${url}`)
  }
  t.equal((await app.inject('/own')).headers['accept-query'], undefined)
})

t.test('pages of other origins may send QUERY and read Accept-Query', async (t) => {
  const document = documentOf({ '/boxes': { query: { requestBody: body('application/json'), responses } } })
  const origin = 'https://app.example'
  const app = await serveDocument(document, { handlers: handlersOf(document) as never, origins: [origin] })
  t.teardown(() => app.close())
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/boxes`
  // RFC 10008 section 4: browsers ask before they send a QUERY.
  const asks = { origin, 'access-control-request-method': 'QUERY', 'access-control-request-headers': 'content-type' }
  const preflight = await httpRequest(url, { method: 'OPTIONS', headers: asks })
  t.match(preflight, {
    status: 204,
    headers: { 'access-control-allow-methods': 'QUERY', 'access-control-allow-headers': /\bContent-Type\b/ },
  })
  const sent = { origin, 'content-type': 'application/json' }
  const { status, headers } = await httpRequest(url, { method: 'QUERY', headers: sent, body: '1' })
  t.match([status, headers], [204, { 'access-control-expose-headers': /\bAccept-Query\b/ }])
  const without = crossOriginNames(compileRoutes(documentOf({ '/boxes': { get: { responses } } })))
  t.notOk(without.responseHeaders.includes('Accept-Query'))
})
