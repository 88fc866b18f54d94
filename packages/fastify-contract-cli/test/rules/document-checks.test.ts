import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { basePaths, type Document, endpoints } from '../../src/document/openapi-document.ts'
import { int64Responses } from '../../src/emit/client-json.ts'
import { compileContract, compileDocument } from '../../src/emit/compile.ts'
import { handlerStubs } from '../../src/emit/handler-stubs.ts'
import { normalizedDocument } from '../../src/passes/normalize.ts'
import { readSources } from '../../src/read/source-files.ts'
import { bundle, redocly } from '../../src/redocly/redocly.ts'
import { checkDocument } from '../../src/rules/check-document.ts'
import { structureProblems } from '../../src/rules/document-structure.ts'
import { serveDocument } from '../support/serve-document.ts'

t.test('operations are served below the paths of their servers', async (t) => {
  const cases: [url: string, path: string][] = [
    ['https://example.com', ''],
    ['https://example.com/', ''],
    ['https://example.com/v1/', '/v1'],
    ['{scheme}://{host}:{port}/v1', '/v1'],
    ['//example.com/v1', '/v1'],
    ['https://example.com//', ''],
    ['https://example.com/v1//', '/v1'],
    ['//example.com/', ''],
    ['/v1/', '/v1'],
    ['/', ''],
    ['//', ''],
    ['/v1/a', '/v1/a'],
    ['v1', '/v1'],
    ['none/', '/none'],
    ['api.example.com/v1', 'api.example.com/v1'],
    ['localhost/v1', 'localhost/v1'],
  ]
  for (const [url, path] of cases) t.same(basePaths([{ url }]), [path], url)
  t.same(basePaths([]), [''])
  t.same(basePaths([{ url: '/a' }, { url: 'http://b/a' }, { url: '/b' }]), ['/a', '/b'])
})

t.test('a server variable expands to each of its values', async (t) => {
  const variables = { stage: { default: 'a', enum: ['a', 'b'] }, version: { default: 'v1' } }
  t.same(basePaths([{ url: '/{stage}/{version}', variables }]), ['/a/v1', '/b/v1'])
  t.same(basePaths([{ url: 'https://{stage}.example.com/{version}', variables }]), ['/v1'])
  const endpoint = { default: 'https://a.example.com', enum: ['https://a.example.com', 'http://b.example.com:8080/b'] }
  t.same(basePaths([{ url: '{endpoint}/v1', variables: { endpoint } }]), ['/v1', '/b/v1'])
  t.same(basePaths([{ url: 'https://{endpoint}/v1', variables: { endpoint } }]), ['/v1', '/b/v1'])
  t.same(basePaths([{ url: '/{empty}/v1', variables: { empty: { default: '' } } }]), ['//v1'])
  const parts = { scheme: { default: 'https' }, host: { default: 'a.example.com:8080' }, base: { default: '/b' } }
  t.same(basePaths([{ url: '{scheme}://{host}{base}', variables: parts }]), ['/b'])
  t.same(basePaths([{ url: '//{host}{base}/v1', variables: parts }]), ['/b/v1'])
})

t.test('a slash at the end of a server variable begins no path, wherever the server stands', async (t) => {
  const servers = (value: string) => [{ url: '{s}', variables: { s: { default: value } } }]
  const operation = (more: object = {}) => ({ ...more, responses: { 204: { description: 'Done.' } } })
  const document = documentOf(
    {
      '/a': { get: operation() },
      '/b': { servers: servers('http://localhost/v1/'), get: operation() },
      '/c': { get: operation({ servers: servers('/v2//') }) },
      '/d': { get: operation({ servers: [{ url: '/{v}', variables: { v: { default: '', enum: ['', 'v3/'] } } }] }) },
    },
    { servers: servers('http://localhost/') },
  )
  t.same(
    endpoints(document).map(({ routes, server, path }) => [routes, server + path]),
    [
      [['/a'], 'http://localhost/a'],
      [['/v1/b'], 'http://localhost/v1/b'],
      [['/v2/c'], 'http://127.0.0.1:3000/v2/c'],
      [['/d', '/v3/d'], 'http://127.0.0.1:3000/d'],
    ],
  )
  const ids = ['getA', 'getB', 'getC', 'getD']
  const handlers = Object.fromEntries(ids.map((id) => [id, async () => ({ status: 204 })]))
  const app = await serveDocument(document, { handlers } as never)
  t.teardown(() => app.close())
  for (const url of ['/a', '/v1/b', '/v2/c', '/d', '/v3/d']) t.equal((await app.inject(url)).statusCode, 204, url)
})

const responses = { 200: { description: 'a', content: { 'application/json': { schema: { type: 'string' } } } } }
const documentOf = (paths: object, more: object = {}) =>
  ({ openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths, ...more }) as Document
const idsOf = (document: Document) => endpoints(document).map(({ operationId }) => operationId)

t.test('a reference by the URI of $self leads to a file, without network', async (t) => {
  const self = 'https://example.invalid/api/openapi.yaml'
  const schemas = {
    A: { $ref: `${self}#/components/schemas/Text` },
    B: { $ref: 'https://example.invalid/api/shared/pets.json#/Pet' },
    Text: { type: 'string' },
  }
  const directory = t.testdir({
    'openapi.yaml': JSON.stringify({ $self: self, ...documentOf({}, { components: { schemas } }), openapi: '3.2.0' }),
    shared: {
      'pets.json': `{ "Pet": { "properties": { "name": { "$ref": "${self}#/components/schemas/Text" }, "tag": { "$ref": "#/None" } } } }`,
    },
  })
  const path = join(directory, 'openapi.yaml')
  t.same([...(await readSources(path)).files.keys()], [path, join(directory, 'shared/pets.json')])
  const text = { $ref: '#/components/schemas/Text' }
  t.match((await bundle(path)).components, {
    schemas: {
      A: text,
      B: { $ref: '#/components/schemas/Pet' },
      Text: { type: 'string' },
      Pet: { properties: { name: text } },
    },
  })
  const { warnings } = await compileContract(path)
  t.match(
    warnings.join(),
    /#\/None does not resolve.* \(no operation uses it\) \(\.tap\/.*\/shared\/pets\.json:1:\d+\)/,
  )
})

t.test('an operation without operationId is named after its method and path alone', async (t) => {
  const names: [path: string, name: string][] = [
    ['/', 'get'],
    ['/shelves/{shelf-id}/plants', 'getShelvesByShelfIdPlants'],
    ['/v1.2/find_pets/{id}.{format}', 'getV12FindPetsByIdByFormat'],
    ['/straße/{a}{b}', 'getStraßeByAByB'],
  ]
  const paths = Object.fromEntries(names.map(([path]) => [path, { get: { responses } }]))
  t.same(
    idsOf(documentOf(paths)),
    names.map(([, name]) => name),
  )
  t.same(idsOf(documentOf({ '/a': { post: { operationId: '', responses } } })), ['postA'])
})

t.test('one warning tells of many operations without a name', async (t) => {
  const paths = Object.fromEntries(['/a', '/b', '/c', '/d'].map((path) => [path, { get: { responses } }]))
  t.same(checkDocument(documentOf(paths)).warnings, [
    '#/paths/~1a/get: has no operationId, like 3 other operations; its handler is named getA, after its method and path',
  ])
})

t.test('an operation with a derived name is typed, bound and served by it, and a warning shows it', async (t) => {
  const components = { pathItems: { Item: { get: { responses }, delete: { operationId: 'drop', responses } } } }
  const item = { $ref: '#/components/pathItems/Item' }
  const put = { operationId: 'put', responses }
  const document = documentOf(
    { '/a/{id}': { ...item, summary: 'A' }, '/b': { put, post: { responses } } },
    { components },
  )
  t.same(checkDocument(document).warnings, [
    '#/paths/~1a~1%7Bid%7D/get: has no operationId; its handler is named getAById, after its method and path',
    '#/paths/~1b/post: has no operationId; its handler is named postB, after its method and path',
  ])
  t.same(idsOf(normalizedDocument(document)), ['getAById', 'drop', 'put', 'postB'])
  t.same(checkDocument(normalizedDocument(document)).warnings, [])
  const compiled = await compileDocument(document, 'a.yaml')
  const { 'api.d.ts': types = '', 'openapi.json': published = '' } = compiled.files
  t.match(types, /^ {4}getAById: \{$/m)
  t.notMatch(published, /getAById/, 'the published document is unchanged')
  const before = documentOf({ '/b': { put, post: { responses } } })
  // Handlers that only throw are not compiled.
  t.match(handlerStubs(compiled, before), [/getAById\(/, /drop\(/])
  const answer = (body: string) => async () => ({ status: 200, body })
  const handlers = { getAById: answer('a'), drop: answer('d'), put: answer('p'), postB: answer('b') }
  const app = await serveDocument(document, { handlers })
  t.equal((await app.inject('/a/1')).body, '"a"')
  t.equal((await app.inject({ method: 'POST', url: '/b' })).body, '"b"')
})

t.test('a document of one JSON file is read as the bundler writes it', async (t) => {
  const withExample = (example: object) => {
    const content = { 'a/b': { schema: { $ref: '#/components/schemas/A' } }, 'a/c': example }
    return documentOf(
      { '/a': { get: { responses: { 200: { description: '', content } } } } },
      { components: { schemas: { A: {} } } },
    )
  }
  const directory = t.testdir({
    'whole.json': JSON.stringify({
      paths: { '/a': { $ref: '#/paths/~1b' }, '/b': { get: { responses, 'x-a': [{ $ref: '#/info' }] } } },
      info: { title: 'a', version: '1' },
      'x-b': 1,
      openapi: '3.1.0',
    }),
    'data.json': JSON.stringify(withExample({ example: { $ref: '#/info' } })),
    'example.json': JSON.stringify(withExample({ examples: { a: { value: { $ref: '#/info' } } } })),
    'file.json': JSON.stringify(documentOf({ '/a': { $ref: 'item.json' } })),
    'item.json': JSON.stringify({ get: { responses } }),
  })
  // In the directory of this repository, a configuration has the bundler read every document.
  const before = process.cwd()
  t.teardown(() => process.chdir(before))
  process.chdir(directory)
  await redocly(['bundle', 'whole.json', 'example.json', '--ext=json', '--output=bundled'])
  for (const name of ['whole.json', 'example.json']) {
    const expected = JSON.parse(readFileSync(join('bundled', name), 'utf8'))
    t.equal(JSON.stringify(await bundle(name)), JSON.stringify(expected), name)
  }
  t.notMatch(JSON.stringify(await bundle('file.json')), /"item\.json"/, 'the bundler replaces a reference to a file')
  t.match(await bundle('data.json'), withExample({ example: { $ref: '#/info' } }), 'an example is data')
})

t.test('linter messages contain no notice about the Node version', async (t) => {
  await t.rejects(redocly(['bundle', 'missing.yaml']), { message: /^(?!.*[╔║╚]).*missing\.yaml/s })
})

const int64 = { type: 'integer', format: 'int64' }
const int32 = { type: 'integer', format: 'int32' }

/** Returns the table of a document with one response of the given schema. */
const repliesOf = (schema: object, schemas: object = {}, type = 'application/json') =>
  int64Responses({
    openapi: '3.1.0',
    info: { title: 'a', version: '1.0.0' },
    paths: { '/a': { get: { responses: { 200: { content: { [type]: { schema } } }, 204: {} } } } },
    components: { schemas },
  })

const placesOf = (schema: object, schemas?: object) => repliesOf(schema, schemas).nodes

t.test('the table lists only responses with an int64', async (t) => {
  const empty = { nodes: [], responses: {} }
  t.same(repliesOf(int32), empty)
  t.same(repliesOf(int64, {}, 'text/plain'), empty)
  const held = { nodes: [{ int64: true }], responses: { 'GET /a': { 200: 0, 204: null } } }
  t.same(repliesOf(int64), held)
  t.same(repliesOf({ ...int64, format: 'uint64' }), held)
  t.same(repliesOf({ ...int64, type: ['integer', 'null'] }, {}, 'application/problem+json'), held)
})

t.test('the table lists the items of each sequential media type', async (t) => {
  const held = { properties: { id: int64 } }
  const withItems = (type: string, schema: object, schemas?: object) => {
    const { nodes, items = {} } = repliesOf(schema, schemas, type)
    return [nodes.length, items['GET /a']]
  }
  t.same(withItems('application/jsonl; a=b', int32), [0, { 200: { 'application/jsonl': {} }, 204: {} }])
  t.same(withItems('Application/JSON-seq', held), [2, { 200: { 'application/json-seq': { node: 0 } }, 204: {} }])
  const stream = (format: object) => ({ 200: { 'text/event-stream': format }, 204: {} })
  t.same(withItems('text/event-stream', held), [2, stream({ node: 0, types: ['object'] })])
  t.same(withItems('text/event-stream', {}), [0, stream({ types: [] })])
  const union = { anyOf: [{ type: 'string' }, { $ref: '#/components/schemas/A' }] }
  t.same(withItems('text/event-stream', union, { A: int32 }), [0, stream({ types: ['string', 'integer'] })])
  t.same(repliesOf(held, {}, 'application/jsonl').responses, {}, 'its items are no JSON body')
  t.notOk('items' in repliesOf(held))
})

t.test('every keyword that leads to an int64 is followed', async (t) => {
  const id = { properties: { id: int64, name: { type: 'string' } } }
  const place = [{ members: { id: 1 } }, { int64: true }]
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) t.same(placesOf({ [keyword]: [{}, id] }), place, keyword)
  t.same(placesOf({ dependentSchemas: { name: id } }), place)
  for (const keyword of ['then', 'else']) t.same(placesOf({ if: {}, [keyword]: id }), place, keyword)
  for (const keyword of ['additionalProperties', 'unevaluatedProperties', 'items', 'unevaluatedItems'])
    t.same(placesOf({ [keyword]: int64 }), [{ others: 1 }, { int64: true }], keyword)
  t.same(placesOf({ patternProperties: { '^x': int64 } }), [{ others: 1 }, { int64: true }])
  t.same(placesOf({ prefixItems: [int32, int64], items: int32 }), [{ members: { 1: 1 } }, { int64: true }])
})

t.test('schemas may be recursive and have siblings of a $ref', async (t) => {
  const tree = { $ref: '#/components/schemas/Tree' }
  const Tree = { properties: { up: tree, list: { items: tree }, id: int64 } }
  t.same(placesOf(tree, { Tree }), [{ members: { up: 0, list: 1, id: 2 } }, { others: 0 }, { int64: true }])
})

t.test('a property of one branch is an additional property in another', async (t) => {
  const branches = { anyOf: [{ properties: { id: { type: 'string' } } }, { additionalProperties: int64 }] }
  t.same(placesOf(branches), [{ members: { id: 1 }, others: 2 }, { int64: true }, { int64: true }])
  const named = { properties: { id: { type: 'string' } }, additionalProperties: int64 }
  t.same(placesOf(named), [{ members: { id: null }, others: 1 }, { int64: true }])
})

const valid = { openapi: '3.1.0', info: { title: 'Test', version: '1' } }
const operation = (more: object) => ({ ...valid, paths: { '/a': { get: more } } })
const schema = (more: unknown) => ({ ...valid, components: { schemas: { A: more } } })

t.test('a violation of the OpenAPI structure is rejected with its location', async (t) => {
  const scheme = (more: object) => ({ ...valid, components: { securitySchemes: { a: more } } })
  const cases: [document: unknown, place: string, problem: string][] = [
    [null, '#', 'must be an object, not null'],
    [{ info: valid.info }, '#/openapi', 'is missing; add a version of OpenAPI'],
    [{ ...valid, openapi: '3.3.0' }, '#/openapi', '3.3.0 is not supported; use 3.0, 3.1 or 3.2'],
    [{ ...valid, info: { title: 1, version: '1' } }, '#/info', 'must be an object with a title and a version'],
    [
      { ...valid, security: [{ a: null }] },
      '#/security',
      'must be an array of objects with an array of scopes for each',
    ],
    [{ ...valid, paths: [] }, '#/paths', 'must be an object, not []'],
    [operation({ parameters: null }), '#/paths/~1a/get/parameters', 'must be an array, not null'],
    [operation({ parameters: [1] }), '#/paths/~1a/get/parameters/0', 'must be an object, not 1'],
    [operation({ parameters: [{ in: 'body' }] }), '#/paths/~1a/get/parameters/0/name', 'is missing; add a string'],
    [operation({ operationId: 1 }), '#/paths/~1a/get/operationId', 'must be a string, not 1'],
    [operation({ requestBody: { required: 'no' } }), '#/paths/~1a/get/requestBody/required', 'must be true or false'],
    [operation({ requestBody: {} }), '#/paths/~1a/get/requestBody/content', 'is missing; add an object'],
    [
      operation({ requestBody: { content: { 'text/plain': { encoding: { a: { contentType: 1 } } } } } }),
      '#/paths/~1a/get/requestBody/content/text~1plain/encoding/a/contentType',
      'must be a string, not 1',
    ],
    [operation({ parameters: [{ $ref: '#/info' }] }), '#/info/name', 'is missing; add a string'],
    [
      { ...operation({ parameters: [{ $ref: '#/x-shared/a' }] }), 'x-shared': { a: { name: 'b', in: 1 } } },
      '#/x-shared/a/in',
      'must be path, query, querystring, header or cookie, not 1',
    ],
    [
      operation({ parameters: [{ $ref: '#/paths/~1a' }] }),
      '#/paths/~1a/get/parameters/0/$ref',
      '#/paths/~1a does not resolve to the expected parameter; correct it',
    ],
    [schema(null), '#/components/schemas/A', 'must be an object, not null'],
    [schema({ $id: 1 }), '#/components/schemas/A/%24id', 'must be a string, not 1'],
    [
      schema({ type: [1] }),
      '#/components/schemas/A/type',
      'must be one of string, number, integer, boolean, array, object, null, or an array of them',
    ],
    [schema({ enum: 'a' }), '#/components/schemas/A/enum', 'must be an array with at least one value, not "a"'],
    [schema({ minimum: '1' }), '#/components/schemas/A/minimum', 'must be a number, not "1"'],
    [schema({ exclusiveMaximum: 'a' }), '#/components/schemas/A/exclusiveMaximum', 'must be a number, not "a"'],
    [schema({ maxContains: null }), '#/components/schemas/A/maxContains', 'must be a number of at least 0, not null'],
    [schema({ uniqueItems: 1 }), '#/components/schemas/A/uniqueItems', 'must be true or false, not 1'],
    [
      schema({ dependentRequired: { a: 'b' } }),
      '#/components/schemas/A/dependentRequired',
      'must be an object with arrays of strings',
    ],
    [schema({ required: true }), '#/components/schemas/A/required', 'must be an array of strings, not true'],
    [schema({ discriminator: { mapping: {} } }), '#/components/schemas/A/discriminator', 'must be an object with'],
    [
      schema({ discriminator: { propertyName: 'a', mapping: { a: 1 } } }),
      '#/components/schemas/A/discriminator',
      'must',
    ],
    [schema({ $ref: 1 }), '#/components/schemas/A/$ref', 'must be a string; correct it'],
    [
      { ...valid, components: { securitySchemes: { a: { type: 'http', scheme: 1 } } } },
      '#/components/securitySchemes/a/scheme',
      'must be a string, not 1; correct it',
    ],
    [
      { ...valid, components: { securitySchemes: { a: {} } } },
      '#/components/securitySchemes/a/type',
      'is missing; add one of apiKey',
    ],
    [
      { ...valid, components: { securitySchemes: { a: { $ref: '#/components/securitySchemes/a' } } } },
      '#/components/securitySchemes/a/$ref',
      '#/components/securitySchemes/a does not resolve to the expected securityScheme; correct it',
    ],
    [
      { ...valid, components: { securitySchemes: { a: { $ref: '#/components/securitySchemes/b' } } } },
      '#/components/securitySchemes/a/$ref',
      '#/components/securitySchemes/b does not resolve; correct the reference',
    ],
    [
      operation({ parameters: [{ name: 'a', in: 'query', examples: { a: { $ref: '#/components/examples/A' } } }] }),
      '#/paths/~1a/get/parameters/0/examples/a/$ref',
      '#/components/examples/A does not resolve; correct the reference',
    ],
    [
      { ...valid, components: { examples: { A: { $ref: '#/components/examples/A' } } } },
      '#/components/examples/A/$ref',
      '#/components/examples/A does not resolve to the expected example; correct it',
    ],
    ...[{}, null, { url: '/', variables: [] }, { url: '/{a}', variables: { a: {} } }].map(
      (server): [unknown, string, string] => [
        { ...valid, servers: [server] },
        '#/servers',
        'must be an array of objects with a url, and with a default for each of its variables',
      ],
    ),
    [
      operation({ requestBody: { $ref: '#/x-a' } }),
      '#/paths/~1a/get/requestBody/$ref',
      '#/x-a does not resolve; correct the reference',
    ],
    [
      operation({ requestBody: { $ref: 'a.yaml' } }),
      '#/paths/~1a/get/requestBody/$ref',
      'a.yaml does not point into this',
    ],
    [scheme({ type: 'http' }), '#/components/securitySchemes/a/scheme', 'is missing; add a string'],
    [scheme({ type: 'apiKey', in: 'query' }), '#/components/securitySchemes/a/name', 'is missing; add a string'],
    [
      scheme({ type: 'apiKey', name: 'a' }),
      '#/components/securitySchemes/a/in',
      'is missing; add query, header or cook',
    ],
    [schema({ maximum: Number.POSITIVE_INFINITY }), '#/components/schemas/A/maximum', 'must be a number, not Infinity'],
  ]
  for (const [document, place, problem] of cases) {
    const [first = ''] = structureProblems(document)
    t.ok(first.startsWith(`${place}: ${problem}`), `${first} for ${place}: ${problem}`)
  }
  const loop = { a: { $ref: '#/components/responses/b' }, b: { $ref: '#/components/responses/a' } }
  t.same(structureProblems({ ...valid, components: { responses: loop } }), [
    '#/components/responses/a/$ref: #/components/responses/b does not resolve to the expected response; correct it',
    '#/components/responses/b/$ref: #/components/responses/a does not resolve to the expected response; correct it',
  ])
})

t.test('extensions and plain data have any shape, and a reference needs no other fields', async (t) => {
  const parameters = [{ $ref: '#/components/parameters/B' }]
  const document = {
    ...operation({ parameters, 'x-parameters': 1, responses: { 'x-a': 1, 204: { description: 'a' } } }),
    servers: [{ url: '/{v}', variables: { v: { default: 'a', enum: ['a'] } } }],
    security: [{}, { a: [] }],
    components: {
      securitySchemes: { a: { type: 'http', scheme: 'bearer' }, b: { $ref: '#/components/securitySchemes/a' } },
      parameters: {
        B: { name: 'b', in: 'query', schema: { default: { type: 1 }, discriminator: { propertyName: 'a' } } },
      },
      schemas: { A: true, C: { type: ['string'], discriminator: { propertyName: 'a', mapping: { a: 'A' } } } },
    },
  }
  t.same(structureProblems(document), [])
})

t.test('an invalid structure is reported before any other problem', async (t) => {
  await t.rejects(compileDocument(operation({ parameters: 1 }) as unknown as Document, 'a.yaml'), {
    message:
      'a.yaml cannot be served as written:\n  #/paths/~1a/get/parameters: must be an array, not 1; correct it\n1 problem affects 1 of 1 operations',
  })
})

t.test('a lone surrogate is rejected in a name, and an example with one is not used', async (t) => {
  const lone = 'a\ud800'
  const operation = (parameters: object[], more: object = {}) => ({
    get: { operationId: 'a', parameters, responses: { 204: { description: 'Done.' } }, ...more },
  })
  const schema = { type: 'object', additionalProperties: { type: 'string' } }
  const examples = { schema, example: { [lone]: lone } }
  const valid = documentOf({
    '/a/{id}': operation([
      { name: 'id', in: 'path', required: true, schema: { type: 'string' }, example: lone },
      { name: 'deep', in: 'query', style: 'deepObject', ...examples },
      { name: 'exploded', in: 'query', ...examples },
      { name: 'json', in: 'query', content: { 'application/json': examples } },
    ]),
  })
  const { files } = await compileDocument(valid as unknown as Document, 'surrogates.json')
  t.match(files['requests.http'], 'GET {{origin}}/a/id\n')
  const parameter = { name: lone, in: 'query', schema: { type: 'object', properties: { [lone]: {} } } }
  const properties = `#/paths/~1a/get/parameters/0/schema/properties/${lone}`
  t.same(
    structureProblems(documentOf({ '/a': operation([parameter], { operationId: lone }) })),
    ['#/paths/~1a/get', '#/paths/~1a/get/parameters/0', properties].map(
      (at) => `${at}: its name contains a lone surrogate, which no request can contain; remove it`,
    ),
  )
})
