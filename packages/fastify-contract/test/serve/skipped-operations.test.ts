import type { FastifyInstance, HTTPMethods } from 'fastify'
import t, { type Test } from 'tap'
import { compileDocument } from '../../src/compile/compile.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import type { Routes } from '../../src/serve/contract.ts'
import { type Served, serveRoutes } from '../support/serve-document.ts'

/** An operation that is served. */
const served = { responses: { 204: { description: 'Done.' } } }
/** An operation that is not served, since its status does not end a request. */
const refused = { responses: { 100: { description: 'No.' } } }

const path = (name: string) => ({ parameters: [{ name, in: 'path', required: true, schema: { type: 'string' } }] })
const query = (value: string) => ({
  parameters: [{ name: 'action', in: 'query', required: true, schema: { const: value } }],
})

/** Serves what can be served of a document, as a service that was generated with --skip-unsupported. */
async function serve(t: Test, paths: object, options: Served = {}): Promise<FastifyInstance> {
  const document = { openapi: '3.2.0', info: { title: 'Test', version: '1' }, paths } as unknown as Document
  const { files } = await compileDocument(document, 'a.yaml', { skipUnsupported: true })
  const routes = JSON.parse(files['routes.json'] as string) as Routes
  const handlers = routes.operations.map(({ operationId }) => [
    operationId,
    async () => ({ status: 204, body: undefined }),
  ])
  const app = serveRoutes(routes, { handlers: Object.fromEntries(handlers), ...options })
  t.teardown(() => app.close())
  return app
}

async function check(t: Test, app: FastifyInstance, expected: [request: string, status: number, allow?: string][]) {
  for (const [request, status, allow] of expected) {
    const [method, url = ''] = request.split(' ')
    const { statusCode, headers } = await app.inject({ method: method as HTTPMethods as 'GET', url })
    t.same([statusCode, headers.allow], [status, allow], request)
  }
}

t.test('a skipped HEAD beside a served GET gets 501, and a skipped GET also its HEAD', async (t) => {
  const app = await serve(t, {
    '/a': { get: served, head: refused },
    '/b': { get: refused, head: served },
    '/c': { get: refused, post: served },
    '/d/{id}': { ...path('id'), get: served },
    '/d/me': { get: refused },
  })
  await check(t, app, [
    ['GET /a', 204],
    ['HEAD /a', 501],
    ['PUT /a', 405, 'GET, HEAD'],
    ['GET /b', 501],
    ['HEAD /b', 204],
    ['GET /c', 501],
    ['HEAD /c', 501],
    ['PUT /c', 405, 'POST, GET, HEAD'],
    ['HEAD /d/1', 204],
    ['GET /d/me', 501],
    ['HEAD /d/me', 501],
  ])
})

t.test('a HEAD belongs to a path, whatever its parameters are called, and however many servers it has', async (t) => {
  const app = await serve(t, {
    '/a/{id}': { ...path('id'), get: served },
    '/a/{name}': { ...path('name'), head: refused },
    '/b/{id}': { ...path('id'), get: served },
    '/b/{name}': { ...path('name'), head: served, put: refused },
    '/c/{id}': { ...path('id'), get: served, head: { ...refused, servers: [{ url: '/' }, { url: '/v2' }] } },
  })
  await check(t, app, [
    ['GET /a/1', 204],
    ['HEAD /a/1', 501],
    ['GET /b/1', 204],
    ['HEAD /b/1', 204],
    ['PUT /b/1', 501],
    ['GET /c/1', 204],
    ['HEAD /c/1', 501],
    ['HEAD /v2/c/1', 501],
    ['GET /v2/c/1', 405, 'HEAD'],
  ])
})

t.test('a skipped HEAD beside operations that parameters select gets 501', async (t) => {
  const app = await serve(t, {
    '/a#x': { get: { ...served, ...query('x') } },
    '/a#y': { get: { ...served, ...query('y') }, head: { ...refused, ...query('y') } },
    '/a#z': { get: { ...refused, ...query('z') } },
    '/b#x': { get: { ...served, ...query('x') } },
    '/b#y': { get: { ...refused, ...query('y') } },
  })
  await check(t, app, [
    ['GET /a?action=x', 204],
    ['GET /a?action=y', 204],
    ['GET /a?action=z', 501],
    ['GET /a', 400],
    ['HEAD /a?action=y', 501],
    ['GET /b?action=x', 204],
    ['HEAD /b?action=x', 204],
    ['GET /b?action=y', 501],
    ['HEAD /b?action=y', 501],
  ])
})

t.test('a skipped operation of a path such as {id}:run, or of an additional method, gets 501', async (t) => {
  const app = await serve(t, {
    '/a/{id}': { ...path('id'), get: served, put: refused },
    '/a/{id}:run': { ...path('id'), get: served, head: refused, put: refused },
    '/b': { get: served, additionalOperations: { COPY: refused, LOCK: refused } },
    '/c': { get: served, additionalOperations: { COPY: served } },
    '/d/{id}{name}': { ...path('id'), get: refused },
  })
  await check(t, app, [
    ['GET /a/1', 204],
    ['PUT /a/1', 501],
    ['GET /a/1:run', 204],
    ['HEAD /a/1:run', 501],
    ['PUT /a/1:run', 501],
    ['COPY /b', 501],
    ['LOCK /b', 501],
    ['COPY /c', 204],
    ['GET /d/12', 404],
  ])
})

t.test('a skipped OPTIONS gets 501, but a preflight of an allowed origin is answered', async (t) => {
  const origin = 'https://app.example'
  const app = await serve(t, { '/a': { get: served, options: refused } }, { origins: [origin] })
  await check(t, app, [
    ['GET /a', 204],
    ['OPTIONS /a', 501],
  ])
  const headers = { origin, 'access-control-request-method': 'GET' }
  t.match(await app.inject({ method: 'OPTIONS', url: '/a', headers }), {
    statusCode: 204,
    headers: { 'access-control-allow-methods': 'GET' },
  })
})
