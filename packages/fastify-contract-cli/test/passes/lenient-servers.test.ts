import t from 'tap'
import { type Document, endpoints } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { lenientPaths } from '../support/lenient-paths.ts'
import { serveRoutes } from '../support/serve-document.ts'

const responses = { 204: { description: 'Done.' } }
const get = { operationId: 'a', responses }
const documentOf = (servers: unknown, more: object = {}) =>
  ({ openapi: '3.1.0', info: { title: 'Test', version: '1' }, servers, paths: { '/a': { get } }, ...more }) as Document

/** Returns the routes of an operation below some servers, and the advice without its pointer. */
function served(servers: unknown) {
  const { document, advice } = lenientPaths(documentOf(servers))
  const routes = endpoints(document).flatMap((each) => each.routes)
  return { routes, advice: advice.map((line) => line.slice(line.indexOf(': ') + 2)) }
}

const isHost = (url: string) => `${url} has no scheme; it is read as the host and the path //${url}; add https://`

t.test('the path of a server counts, whatever its host', async (t) => {
  const cases: [url: string, path: string, advice: string[]][] = [
    ['api.example.com/v1', '/v1', [isHost('api.example.com/v1')]],
    ['api.example.com:8080', '', [isHost('api.example.com:8080')]],
    ['localhost:8080/v1', '/v1', [isHost('localhost:8080/v1')]],
    ['localhost', '', [isHost('localhost')]],
    ['127.0.0.1/v1', '/v1', [isHost('127.0.0.1/v1')]],
    [
      '{tenant}.example.com/v1',
      '/v1',
      [
        isHost('{tenant}.example.com/v1'),
        'tenant is no variable of the server; a service needs the path only, so it has no effect; describe it in variables',
      ],
    ],
    [
      'https://{tenant}/v1',
      '/v1',
      [
        'tenant is no variable of the server; a service needs the path only, so it has no effect; describe it in variables',
      ],
    ],
    [
      '{baseUrl}/v1',
      '/v1',
      [
        'baseUrl is no variable of the server; it is read as the scheme and the host, which have no effect; describe it in variables',
      ],
    ],
    [
      '{{baseUrl}}',
      '',
      [
        '{{baseUrl}} is read as {baseUrl}; write a variable in single braces',
        'baseUrl is no variable of the server; it is read as the scheme and the host, which have no effect; describe it in variables',
      ],
    ],
    [
      ' https://a.example.com/v1 ',
      '/v1',
      [' https://a.example.com/v1  has spaces around it; they are ignored; remove them'],
    ],
    ['https://a.example.com/v1?b=c#d', '/v1', ['a server has no query and no fragment; ?b=c#d is ignored; remove it']],
    ['./v1', '/v1', ['./v1 is relative; it is served as /v1']],
    ['../v1', '/v1', ['../v1 is relative; it is served as /v1']],
    ['.', '', ['. is relative; it is served as /']],
    ['http://[', '', ['http://[ is not a URL; a service needs the path only, so the host has no effect; correct it']],
    [
      'https://my host/v1',
      '/v1',
      ['https://my host/v1 is not a URL; a service needs the path only, so the host has no effect; correct it'],
    ],
    ['', '', []],
    ['https://a.example.com', '', []],
  ]
  for (const [url, path, advice] of cases) t.same(served([{ url }]), { routes: [`${path}/a`], advice }, url)
})

t.test('a text in place of a server is its URL', async (t) => {
  t.same(served(['/v1']), { routes: ['/v1/a'], advice: ['must be an object; /v1 is read as its url; correct it'] })
})

t.test('values of server variables are texts, and the default is one of them', async (t) => {
  const of = (url: string, variables: unknown) => served([{ url, variables }])
  t.same(of('http://localhost:{port}/{v}', { port: { default: 8080 }, v: { default: 1, enum: [1, 2] } }), {
    routes: ['/1/a', '/2/a'],
    advice: [
      'variable port: its default is not a string; it is read as "8080"; quote it',
      'variable v: its default is not a string; it is read as "1"; quote it',
      'variable v: a value of its enum is not a string; it is read as one; quote it',
    ],
  })
  t.same(of('/{v}', { v: { enum: ['b', 'c'] } }), {
    routes: ['/b/a', '/c/a'],
    advice: ['variable v: has no default; its first value b is the default; add it'],
  })
  t.same(of('/{v}', { v: { default: 'a', enum: ['b'] } }), {
    routes: ['/b/a', '/a/a'],
    advice: ['variable v: its default a is not in its enum; both are served; add it to the enum'],
  })
  t.same(of('/{v}', { v: { default: 'a', enum: [] } }), {
    routes: ['/a/a'],
    advice: ['variable v: its enum is empty, so it is ignored; remove it'],
  })
  t.same(of('https://{v}/a', { v: {} }), {
    routes: ['/a/a'],
    advice: [
      'variable v: has no default, so it is ignored; add one',
      'v is no variable of the server; a service needs the path only, so it has no effect; describe it in variables',
    ],
  })
  t.same(of('/a', null).advice, ['its variables are not an object, so they are ignored; correct them'])
})

t.test('a server whose path is uncertain is ignored beside another, and otherwise left to the rules', async (t) => {
  const uncertain = { url: 'https://a.example.com/{v}' }
  t.same(served([uncertain, { url: '/b' }]), {
    routes: ['/b/a'],
    advice: [
      'https://a.example.com/{v} has the undescribed variable v in its path, so it is ignored; describe v in variables',
    ],
  })
  const rejection = await compileDocument(documentOf([uncertain]), 'a.yaml').catch(({ message }) => message)
  t.match(rejection, '#/paths/~1a: the path of a server has the undescribed variable {v}; describe it in variables')
  t.match(rejection, '1 problem affects 1 of 1 operations')
})

t.test('a list of servers that is no list is read as far as it can be', async (t) => {
  for (const servers of [null, 1, [], [null], [{}], [{ url: 1 }]])
    t.same(served(servers).routes, ['/a'], JSON.stringify(servers))
  t.same(served(null).advice, ['is not an array, so it is ignored; correct it'])
  t.same(served([null, { url: '/b' }]), { routes: ['/b/a'], advice: ['has no url, so it is ignored; add one'] })
  t.same(served('https://a.example/b'), {
    routes: ['/b/a'],
    advice: [
      'is read as an array with one server; write it as one',
      'must be an object; https://a.example/b is read as its url; correct it',
    ],
  })
  t.same(served({ url: '/b' }), { routes: ['/b/a'], advice: ['is read as an array with one server; write it as one'] })
})

t.test('the servers of paths operations and webhooks are repaired, too', async (t) => {
  const servers = [{ url: 'api.example.com/v1' }]
  const { advice, document } = lenientPaths(
    documentOf(undefined, {
      paths: { '/a': { servers, get }, '/b': { get: { ...get, servers } }, 'x-c': { servers } },
      webhooks: { c: { post: { servers, responses } } },
    }),
  )
  t.same(
    advice.map((line) => line.split(': ')[0]),
    ['#/paths/~1a/servers/0', '#/paths/~1b/get/servers/0', '#/webhooks/c/post/servers/0'],
  )
  t.same(
    endpoints(document).flatMap(({ routes }) => routes),
    ['/v1/a', '/v1/b'],
  )
})

t.test('a document with odd servers is served below their paths', async (t) => {
  const { routes, files } = await compileDocument(
    documentOf([{ url: 'https://{tenant}/v1' }, { url: 'http://[/v2' }, { url: 'localhost:80/v3' }]),
    'a.yaml',
  )
  t.match(files['requests.http'], '/v1/a')
  const app = serveRoutes(routes, { handlers: { a: async () => ({ status: 204 }) } } as never)
  t.teardown(() => app.close())
  for (const url of ['/v1/a', '/v2/a', '/v3/a']) t.equal((await app.inject(url)).statusCode, 204, url)
})

t.test('a server variable whose value is a template has any value', async (t) => {
  const servers = [{ url: 'https://a.example.com/of/{b-c}', variables: { 'b-c': { default: '{b-c}' } } }]
  const path = {
    get: {
      operationId: 'a',
      parameters: [{ name: 'b-c', in: 'path', required: true, schema: { type: 'string' } }],
      responses,
    },
  }
  const { routes, warnings } = await compileDocument(documentOf(servers, { paths: { '/a/{b-c}': path } }), 'a.yaml')
  t.match(warnings, [
    '#/paths/~1a~1%7Bb-c%7D: the server variable b_c has a template as its value, so any text matches in its place',
  ])
  const received: unknown[] = []
  const handlers = {
    a: async ({ path }: { path: { 'b-c': string } }) => {
      received.push(path)
      return { status: 204 }
    },
  }
  const app = serveRoutes(routes, { handlers } as never)
  t.teardown(() => app.close())
  t.equal((await app.inject('/of/one/a/two')).statusCode, 204)
  t.same(received, [{ 'b-c': 'two' }])
  t.equal((await app.inject('/of//a/two')).statusCode, 404)
})
