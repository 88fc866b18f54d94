import type { FastifyInstance, HTTPMethods } from 'fastify'
import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import { type Served, serveRoutes } from '../support/serve-document.ts'

/** An operation that is served. */
const served = { responses: { 204: { description: 'Done.' } } }
/** An operation that is not served, since its status does not end a request. */
const refused = { responses: { 100: { description: 'No.' } } }

const path = (name: string) => ({ parameters: [{ name, in: 'path', required: true, schema: { type: 'string' } }] })
const query = (value: string) => ({
  parameters: [{ name: 'action', in: 'query', required: true, schema: { const: value } }],
})

const documentOf = (paths: object, parts: object = {}) =>
  ({ openapi: '3.2.0', info: { title: 'Test', version: '1' }, paths, ...parts }) as unknown as Document

const compiled = (document: Document) => compileDocument(document, 'a.yaml', { skipUnsupported: true })

/** Serves what can be served of a document, as a service that was generated with --skip-unsupported. */
async function serve(
  t: Test,
  paths: object,
  { parts, ...options }: Served & { parts?: object } = {},
): Promise<FastifyInstance> {
  const { routes } = (await compiled(documentOf(paths, parts))).contract
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

/** Path items whose operations are unknown, with what the rejection says of each. */
const unknown: [item: unknown, problem: string][] = [
  [{ $ref: '#/components/pathItems/None' }, '/$ref: #/components/pathItems/None does not resolve'],
  [{ $ref: '#/components/pathItems/Ring' }, '/$ref: #/components/pathItems/Ring does not resolve'],
  [{ $ref: '#/info/title' }, '/$ref: #/info/title does not resolve'],
  [{ $ref: './a.yaml' }, '/$ref: ./a.yaml does not point into this document'],
  [{ $ref: 5, get: served }, '/$ref: must be a string'],
  ['text', ': must be an object, not "text"'],
]
const ring = { components: { pathItems: { Ring: { $ref: '#/components/pathItems/Ring' } }, 'x-list': [1] } }

t.test('a path item without a target costs its path, whose requests get 501', async (t) => {
  for (const [item, problem] of unknown) {
    const paths = { '/a/me': item, '/a/{id}': { ...path('id'), get: served } }
    await t.rejects(compileDocument(documentOf(paths, ring), 'a.yaml'), {
      message: new RegExp(`#/paths/~1a~1me${problem.replaceAll('$', '\\$')}.* affects? 1 of 2 operations; `, 's'),
    })
    const app = await serve(t, paths, { parts: ring })
    await check(t, app, [
      ['GET /a/1', 204],
      ['GET /a/me', 501],
      ['HEAD /a/me', 501],
      ['POST /a/me', 501],
    ])
  }
})

t.test('a path item without a target is skipped below the first valid servers', async (t) => {
  const lost = { $ref: '#/components/pathItems/None' }
  const variables = { version: { default: '1', enum: ['1', '2'] } }
  const server = { url: 'https://a.example/{version}', variables }
  const app = await serve(t, { '/a': lost, '/b': { get: served } }, { parts: { servers: [server] } })
  await check(t, app, [
    ['GET /2/a', 501],
    ['GET /a', 404],
    ['GET /2/b', 204],
  ])
  const own = { ...served, servers: [{ url: '/' }] }
  for (const servers of [[{ url: ['a'] }], -1]) {
    const other = await serve(t, { '/a': lost, '/b': { get: own, put: served } }, { parts: { servers } })
    await check(t, other, [
      ['GET /a', 501],
      ['GET /b', 204],
      ['PUT /b', 204],
    ])
  }
})

t.test('security that no served operation uses costs nothing', async (t) => {
  const own = { ...served, security: [] }
  const parts = { security: 'text' }
  const { warnings } = await compileDocument(documentOf({ '/b': { get: own } }, parts), 'a.yaml')
  t.match(
    warnings.filter((line) => line.endsWith('(no operation uses it)')),
    [/^#\/security: must be an array/],
  )
})

t.test('a webhook whose reference has no target is skipped, and a callback costs no operation', async (t) => {
  const lost = { $ref: '#/components/pathItems/None' }
  const paths = {
    '/a': { post: { ...served, callbacks: { sent: { 'https://a.example': lost } } } },
    '/b': { post: { ...served, callbacks: { sent: { $ref: '#/components/callbacks/None' } } } },
    '/c': { post: served },
  }
  const { files } = await compiled(documentOf(paths, { webhooks: { lost, kept: { post: served } } }))
  t.match(JSON.parse(files['skipped-operations.json'] as string), [{ operation: 'webhook lost' }])
  const published = JSON.parse(files['openapi.json'] as string)
  t.same(Object.keys(published.webhooks), ['kept'])
  t.same([published.paths['/a'].post.callbacks, published.paths['/b'].post.callbacks], [{}, {}])
})

t.test('what is left of a path whose operations are skipped is not read', async (t) => {
  const parts = {
    components: {
      pathItems: { Broken: { get: served, parameters: -1 }, Idle: { parameters: -1 } },
      mediaTypes: 'text',
      'x-list': [1],
    },
  }
  const paths = {
    '/a': { get: served },
    '/b': { get: served, parameters: -1 },
    '/c': { servers: 'text' },
    '/d': { $ref: '#/components/pathItems/Broken' },
    pets: { servers: 1 },
    '/e': { get: served, put: refused },
    '/f': {},
    '/g': { $ref: '#/components/pathItems/Idle' },
  }
  const { files } = await compiled(documentOf(paths, parts))
  const published = JSON.parse(files['openapi.json'] as string)
  t.same(Object.keys(published.paths), ['/a', '/c', '/pets', '/e', '/f', '/g'])
  t.same(published.components, { pathItems: { Idle: { parameters: -1 } }, mediaTypes: {}, 'x-list': [1] })
})
