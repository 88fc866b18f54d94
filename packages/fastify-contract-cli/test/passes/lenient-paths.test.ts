import t from 'tap'
import { type Document, endpoints } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { lenientPaths } from '../support/lenient-paths.ts'
import { serveRoutes } from '../support/serve-document.ts'

const text = { type: 'string' }
const inPath = (name: string, more: object = {}) => ({ name, in: 'path', required: true, schema: text, ...more })
const inQuery = (name: string, more: object = {}) => ({ name, in: 'query', schema: text, ...more })
const inHeader = (name: string, more: object = {}) => ({ name, in: 'header', schema: text, ...more })
const responses = { 204: { description: 'Done.' } }
const get = (...parameters: object[]) => ({ get: { operationId: 'a', parameters, responses } })
const documentOf = (paths: object, more: object = {}) =>
  ({ openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths, ...more }) as Document

/** Returns the paths of a document after its repair, each with its parameters, and the advice. */
function repaired(paths: object, more: object = {}) {
  const { document, advice } = lenientPaths(documentOf(paths, more))
  const found = endpoints(document).map(({ path, parameters }) => [
    path,
    ...parameters.map(({ name, in: location, required }) => `${location} ${name}${required === true ? '' : '?'}`),
  ])
  return { found, advice }
}

t.test('a document that needs no repair is not copied', async (t) => {
  const document = documentOf({
    '/a/{b}': {
      parameters: [inPath('b')],
      ...get(inQuery('c'), inHeader('X-A'), inHeader('Accept'), inHeader('accept')),
    },
    '/v1/x:cancel': get(),
    '/jobs?after={b}': get(inPath('b')),
    '/c/{d*}': get(inPath('d*')),
    'x-more': { get: 1 },
    '/#Action=A': get(),
  })
  const { document: same, advice } = lenientPaths(document)
  t.equal(same, document)
  t.same(advice, [])
})

t.test('an undescribed path parameter is a required string', async (t) => {
  const is = (name: string, at: string) =>
    `${at}: path parameter ${name} is not described; it is served as a string of any form; describe it`
  t.same(repaired({ '/a/{b}': get() }), { found: [['/a/{b}', 'path b']], advice: [is('b', '#/paths/~1a~1%7Bb%7D')] })
  t.same(
    repaired({ '/a/{b}/{c}': { get: { operationId: 'a', parameters: [inPath('b')], responses }, put: { responses } } }),
    {
      found: [
        ['/a/{b}/{c}', 'path c', 'path b'],
        ['/a/{b}/{c}', 'path c', 'path b'],
      ],
      advice: [is('c', '#/paths/~1a~1%7Bb%7D~1%7Bc%7D'), is('b', '#/paths/~1a~1%7Bb%7D~1%7Bc%7D/put')],
    },
  )
  t.same(repaired({ '/a/{b}?c={c}': get() }).found, [['/a/{b}?c={c}', 'path b']])
  const shared = { components: { pathItems: { Item: get() } } }
  t.same(
    repaired(
      { '/a/{b}': { $ref: '#/components/pathItems/Item' }, '/c': { $ref: '#/components/pathItems/Item' } },
      shared,
    ),
    { found: [['/a/{b}', 'path b'], ['/c']], advice: [is('b', '#/paths/~1a~1%7Bb%7D')] },
  )
  const additional = { additionalOperations: { COPY: { responses } } }
  t.same(repaired({ '/a/{b}': { ...get(inPath('b')), ...additional } }, { openapi: '3.2.0' }).found, [
    ['/a/{b}', 'path b'],
    ['/a/{b}', 'path b'],
  ])
})

t.test('a path parameter that the path lacks is ignored, unless its name differs in its form only', async (t) => {
  t.same(repaired({ '/a': { parameters: [inPath('b')], ...get(inPath('c'), inQuery('d')) } }), {
    found: [['/a', 'query d?']],
    advice: [
      '#/paths/~1a/parameters/0: path parameter b is not in the path, so it is ignored; remove it, or add it to the path',
      '#/paths/~1a/get/parameters/0: path parameter c is not in the path, so it is ignored; remove it, or add it to the path',
    ],
  })
  const components = { parameters: { Id: inPath('plant_id', { schema: { type: 'integer' } }) } }
  const { document, advice } = lenientPaths(
    documentOf({ '/a/{plantId}': get({ $ref: '#/components/parameters/Id' }) }, { components }),
  )
  t.match(endpoints(document)[0]?.parameters, [{ name: 'plantId', in: 'path', schema: { type: 'integer' } }])
  t.same(advice, [
    '#/paths/~1a~1%7BplantId%7D/get/parameters/0: path parameter plant_id is not in the path; it is read as plantId; correct its name',
  ])
  t.same(repaired({ '/a/{ID}/{id}': get(inPath('Id')) }).found, [['/a/{ID}/{id}', 'path ID', 'path id']])
})

t.test('a path parameter is required, whatever the document says', async (t) => {
  const components = { parameters: { Id: { name: 'b', in: 'path', schema: text } } }
  const is = 'a path parameter is always required; add required: true'
  t.same(
    repaired(
      { '/a/{b}': get({ $ref: '#/components/parameters/Id' }), '/c/{d}': get(inPath('d', { required: false })) },
      { components },
    ),
    {
      found: [
        ['/a/{b}', 'path b'],
        ['/c/{d}', 'path d'],
      ],
      advice: [`#/paths/~1c~1%7Bd%7D/get/parameters/0: ${is}`, `#/components/parameters/Id: ${is}`],
    },
  )
})

t.test('of two descriptions of a parameter the last one counts', async (t) => {
  const at = '#/paths/~1a/get/parameters'
  t.same(repaired({ '/a': get(inQuery('b'), inQuery('c'), inQuery('b')) }), {
    found: [['/a', 'query c?', 'query b?']],
    advice: [`${at}/2: query parameter b is described twice; remove one of both`],
  })
  t.same(repaired({ '/a': get(inHeader('X-A'), inHeader('x-a', { required: true }), inQuery('x-a')) }), {
    found: [['/a', 'header x-a', 'query x-a?']],
    advice: [
      `${at}/1: header parameter x-a is described twice, and differently; the last description counts; remove one of both`,
    ],
  })
  t.same(repaired({ '/a': { parameters: [inHeader('X-A')], ...get(inHeader('x-a', { required: true })) } }), {
    found: [['/a', 'header X-A']],
    advice: [
      `${at}/0: header parameter x-a is X-A of the path, since the case of a header does not matter; use one name`,
    ],
  })
})

t.test('a path without a slash at its beginning gets one', async (t) => {
  t.same(repaired({ 'a/{b}': get(inPath('b')), 'x-a': {} }), {
    found: [['/a/{b}', 'path b']],
    advice: ['#/paths/a~1%7Bb%7D: does not begin with a slash; it is served as /a/{b}; correct it'],
  })
  for (const path of ['', 'https://example.com/a', 'b'])
    t.same(repaired({ [path]: get(), '/b': get() }), {
      found: [['/b']],
      advice: [
        `#/paths/${path.replaceAll('/', '~1').replace(':', '%3A')}: is not a path, so it is not served; begin it with a slash, and give it once`,
      ],
    })
})

t.test('parameters in the notations of routers are read as parameters', async (t) => {
  const read = (path: string, ...parameters: object[]) => repaired({ [path]: get(...parameters) })
  const served = (path: string) => `is not a path of OpenAPI; it is served as ${path}; correct it`
  for (const path of [
    '/a/{b?}',
    '/a/{b:[0-9]{3}}',
    '/a/{b:int}',
    '/a/{ b }',
    '/a/:b',
    '/a/%7Bb%7D',
    '/a/{{b}}',
    '/a/\u0024{b}',
    '/a/<b>',
  ]) {
    const { found, advice } = read(path, inPath('b'))
    t.same(found, [['/a/{b}', 'path b']], path)
    t.same(
      advice.map((line) => line.slice(line.indexOf(': ') + 2)),
      [served('/a/{b}')],
      path,
    )
  }
  for (const path of [
    '/a/{b*}',
    '/a/{b+}',
    '/a/{+b}',
    '/a/{*b}',
    '/a/{**b}',
    '/a/{b:.*}',
    '/a/{b:.+}',
    '/a/{b:path}',
  ]) {
    const { found, advice } = read(path, inPath('b'))
    t.same(found, [['/a/{b}', 'path b']], path)
    t.match(advice, [/is served as \/a\/\{b\}, and a slash in b must be sent as %2F; correct it$/], path)
  }
  t.same(read('/a{?b,c}', inQuery('b')), {
    found: [['/a', 'query b?']],
    advice: [`#/paths/~1a%7B%3Fb%2Cc%7D: ${served('/a')}`],
  })
  for (const path of ['/a/:b', '/a/%7Bb%7D', '/a/<b>']) t.same(read(path), { found: [[path]], advice: [] }, path)
  t.same(repaired({ '/a/{b?}': get(inPath('b')), '/a/{b}': get(inPath('b')) }).found, [
    ['/a/{b?}', 'path b?'],
    ['/a/{b}', 'path b'],
  ])
})

t.test('a document with an invalid structure is left to the rules', async (t) => {
  for (const paths of [
    null,
    [],
    { '/a': null },
    { '/a': { get: null, parameters: 1 } },
    { '/{a}': { get: { parameters: 'b' } } },
    { '/a': { $ref: '#/paths/~1a' } },
    { '/{a}': { get: { parameters: [null, { $ref: 1 }, { $ref: '#/none' }, { in: 'path' }] } } },
  ])
    t.doesNotThrow(() => lenientPaths(documentOf(paths as never)))
  t.doesNotThrow(() => lenientPaths(null as never))
})

t.test('a repaired operation is typed, called and served as its advice says', async (t) => {
  const document = documentOf({
    'plants/{id}': { get: { operationId: 'getPlant', responses } },
    '/shelves/{shelfId:int}': {
      get: {
        operationId: 'getShelf',
        parameters: [{ name: 'shelfId', in: 'path', schema: { type: 'integer' } }],
        responses,
      },
    },
  })
  const { files, routes, warnings } = await compileDocument(document, 'a.yaml')
  t.match(files['api.d.ts'], /"\/plants\/\{id\}"/)
  t.match(files['requests.http'], /\/plants\/.*\/shelves\//s)
  t.equal(warnings.length, 4)
  const calls: unknown[] = []
  const handler = async ({ path }: { path: unknown }) => {
    calls.push(path)
    return { status: 204 }
  }
  const app = serveRoutes(routes, { handlers: { getPlant: handler, getShelf: handler } } as never)
  t.teardown(() => app.close())
  for (const url of ['/plants/a%2Fb', '/shelves/7']) t.equal((await app.inject(url)).statusCode, 204, url)
  t.same(calls, [{ id: 'a/b' }, { shelfId: 7 }])
  t.equal((await app.inject('/shelves/a')).statusCode, 400)
})

t.test('a percent-encoded character of a path is that character', async (t) => {
  const get = { operationId: 'a', responses }
  const { routes, files } = await compileDocument(
    documentOf({ '/caf%C3%A9%20a/b': { get } }, { servers: [{ url: '/v%201' }] }),
    'a.yaml',
  )
  t.match(files['requests.http'], '/v%201/caf%C3%A9%20a/b')
  const app = serveRoutes(routes, { handlers: { a: async () => ({ status: 204 }) } } as never)
  t.teardown(() => app.close())
  t.equal((await app.inject('/v%201/caf%C3%A9%20a/b')).statusCode, 204)
  t.equal((await app.inject('/v%201/caf%C3%A9%20a%2Fb')).statusCode, 404)
})

t.test('repairs apply together, and the published document compiles to the same files without them', async (t) => {
  const document = documentOf(
    {
      'plants/{id}': {
        GET: {
          operationId: 'getPlant',
          parameters: [inHeader('X-A'), inHeader('x-a', { schema: { type: 'integer' } })],
          servers: [{ url: 'localhost:8080/v1' }],
          security: [{ Bearer: null }],
          responses: { '200 OK': { description: 'Found.' } },
        },
      },
      '/shelves/:id': {
        get: { operationId: 'getShelf', parameters: [{ name: 'id', in: 'path', schema: text }], responses },
      },
    },
    { components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } } },
  )
  const { files, routes, warnings } = await compileDocument(document, 'a.yaml')
  t.same(
    routes.operations.map(({ method, servedPaths, security, parameters, schema }) => [
      `${method} ${servedPaths.map(({ path }) => path)}`,
      security,
      parameters.map(({ name }) => name),
      Object.keys(schema.response),
    ]),
    [
      ['GET /v1/plants/{id}', [{ bearer: [] }], ['id', 'x-a'], ['200']],
      ['GET /shelves/{id}', [], ['id'], ['204']],
    ],
  )
  t.equal(warnings.length, 10)
  const again = await compileDocument(JSON.parse(files['openapi.json'] as string), 'a.yaml')
  t.same(again.warnings, [])
  t.same(again.files, files)
})

t.test('there is no advice about an operation that is skipped for another reason', async (t) => {
  const of = (operationId: string) => ({ operationId, responses })
  const document = documentOf({
    '/a/{b}': { get: of('a'), parameters: [inPath('b')] },
    '/c/{d}': { trace: of('c') },
    e: { get: of('e') },
  })
  const { warnings, skipped } = await compileDocument(document, 'a.yaml', { skipUnsupported: true })
  t.same(warnings, ['#/paths/e: does not begin with a slash; it is served as /e; correct it'])
  t.same(
    skipped.map(({ text }) => text),
    ['TRACE is not supported; remove the operation'],
  )
})

t.test('a path is repaired to one that no other path stands for', async (t) => {
  const one = get()
  t.same(repaired({ '/c/{ d }': one, '/c/{d?}': one }).found, [
    ['/c/{d}', 'path d'],
    ['/c/{d?}', 'path d?'],
  ])
  const message = await compileDocument(documentOf({ '/c/{ d }': one, '/c/{d?}': one }), 'a.yaml').catch(String)
  t.match(message, 'GET /c/{d?} is already served by another operation')
  t.same(repaired({ ' /b': one, './c': one, '../d': one, b: one }).found, [['/b'], ['/c'], ['/d']])
  t.match(repaired({ ' /b': one, b: one }).advice, ['#/paths/%20~1b: does not begin', '#/paths/b: is not a path'])
})

t.test('the first of several parameters that mean one name of the path is read', async (t) => {
  const { found, advice } = repaired({ '/a/{petId}': get(inPath('pet_id'), inPath('pet-id')) })
  t.same(found, [['/a/{petId}', 'path petId']])
  t.match(advice, [
    /parameters\/0: path parameter pet_id .* is read as petId/,
    /parameters\/1: .* pet-id .* is ignored/,
  ])
})
