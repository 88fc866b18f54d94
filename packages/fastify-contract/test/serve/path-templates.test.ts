import t from 'tap'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { serveDocument } from '../support/serve-document.ts'

/** Paths with text beside their parameters. */
const paths = [
  '/v1/{id}',
  '/v1/{id}:cancel',
  '/v1/{id}:move.{to}',
  '/v1/{id}/parts:sort',
  '/between/{a}t.{b}',
  '/three/{a}..{b}-{c}(z)',
  '/file/{name}.json',
  '/users({id})',
  '/tags/{name}#list',
  '/named/{a-b}:do',
]

const parametersOf = (path: string) =>
  Array.from(path.matchAll(/\{([^}]*)\}/g), ([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

t.test('a parameter beside a text of its path segment has the part that the text leaves', async (t) => {
  const responses = { 200: { content: { 'application/json': { schema: {} } } } }
  const items = paths.map((path, index) => [
    path,
    { get: { operationId: `o${index}`, parameters: parametersOf(path), responses } },
  ])
  const document = { openapi: '3.1.0', info: { title: 'Paths', version: '1' }, paths: Object.fromEntries(items) }
  const handlers = paths.map((template, index) => [
    `o${index}`,
    async ({ path }: { path: object }) => ({ status: 200, body: [template, path] }),
  ])
  const app = await serveDocument(document as unknown as Document, { handlers: Object.fromEntries(handlers) })
  t.teardown(() => app.close())
  const cases: [url: string, template: string, parameters: object][] = [
    ['/v1/5', '/v1/{id}', { id: '5' }],
    ['/v1/5:cancel', '/v1/{id}:cancel', { id: '5' }],
    ['/v1/a%2Fb:cancel', '/v1/{id}:cancel', { id: 'a/b' }],
    ['/v1/5:other', '/v1/{id}', { id: '5:other' }],
    ['/v1/:cancel', '/v1/{id}', { id: ':cancel' }],
    ['/v1/5:move.7', '/v1/{id}:move.{to}', { id: '5', to: '7' }],
    ['/v1/5/parts:sort', '/v1/{id}/parts:sort', { id: '5' }],
    ['/between/xt.y', '/between/{a}t.{b}', { a: 'x', b: 'y' }],
    ['/between/xt.t.y', '/between/{a}t.{b}', { a: 'x', b: 't.y' }],
    ['/three/1..2-3(z)', '/three/{a}..{b}-{c}(z)', { a: '1', b: '2', c: '3' }],
    ['/file/a.json', '/file/{name}.json', { name: 'a' }],
    ['/users(5)', '/users({id})', { id: '5' }],
    ['/tags/a', '/tags/{name}#list', { name: 'a' }],
    ['/named/9:do', '/named/{a-b}:do', { 'a-b': '9' }],
  ]
  for (const [url, template, parameters] of cases)
    t.same((await app.inject({ url })).json(), [template, parameters], url)
  for (const url of [
    '/file/.json',
    '/file/a.jsonl',
    '/between/xy',
    '/between/t.y',
    '/users()',
    `/between/${'t.'.repeat(5000)}`,
  ])
    t.equal((await app.inject({ url })).statusCode, 404, url.slice(0, 20))
})

t.test('an encoded delimiter is data, not the text beside a parameter', async (t) => {
  const operation = (operationId: string) => ({
    operationId,
    parameters: parametersOf('{id}'),
    responses: { 200: { content: { 'application/json': { schema: {} } } } },
  })
  const document = {
    openapi: '3.1.0',
    info: { title: 'Paths', version: '1' },
    paths: {
      '/v1/{id}:cancel': { post: operation('cancel'), get: operation('show') },
      '/v1/{id}': { post: operation('change'), delete: operation('remove') },
      '/v2/{id}:cancel': { post: operation('cancelOther') },
      '/v2/{id}.json': { post: operation('write') },
    },
  }
  const ids = ['cancel', 'show', 'change', 'remove', 'cancelOther', 'write']
  const handlers = ids.map((name) => [
    name,
    async ({ path }: { path: { id: string } }) => ({ status: 200, body: [name, path.id] }),
  ])
  const app = await serveDocument(document as unknown as Document, { handlers: Object.fromEntries(handlers) })
  t.teardown(() => app.close())
  const bodyOf = async (url: string) => (await app.inject({ method: 'POST', url })).json()
  t.same(await bodyOf('/v1/5:cancel'), ['cancel', '5'])
  for (const url of ['/v1/5%3Acancel', '/v1/5%3acancel?a=:cancel'])
    t.same(await bodyOf(url), ['change', '5:cancel'], url)
  t.same(await bodyOf('/v1/5%3Acancel:cancel'), ['cancel', '5:cancel'])
  t.same(await bodyOf('/v1/5:cancel'.replace('l', '%6C')), ['cancel', '5'], 'a letter may be encoded')
  t.same(await bodyOf('/v2/5%2Ejson'), ['write', '5'], 'a dot may be encoded')
  t.equal((await app.inject({ method: 'POST', url: '/v2/5%3Acancel' })).statusCode, 404)
  t.equal((await app.inject({ method: 'HEAD', url: '/v1/5:cancel' })).statusCode, 200)
  const statusOf = async (method: 'GET' | 'DELETE', url: string) => (await app.inject({ method, url })).statusCode
  t.equal(await statusOf('DELETE', '/v1/5:cancel'), 405)
  t.equal(await statusOf('DELETE', '/v1/5%3Acancel'), 200)
  t.equal(await statusOf('GET', '/v1/5%3Acancel'), 405)
  t.equal(await statusOf('GET', '/v1/5%zz:cancel'), 400)
})
