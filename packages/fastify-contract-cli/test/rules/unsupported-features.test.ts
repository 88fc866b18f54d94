import t from 'tap'
import { join as pointer } from '../../src/document/json-pointer.ts'
import type { Document, Parameter } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { checkDocument } from '../../src/rules/check-document.ts'
import type { RejectedDocument } from '../../src/rules/problems.ts'

const json = { 'application/json': { schema: {} } }
const text = { text: { schema: {} } }

const problems = (operation: object, more: Where = {}): string[] => findings(operation, more).rejected

type Where = { path?: string; method?: string; openapi?: string }

function findings(operation: object, { path = '/a', method = 'get', openapi = '3.1.0' }: Where = {}) {
  const document = {
    openapi,
    info: { title: 'Test', version: '1.0.0' },
    paths: { [path]: { [method]: { operationId: 'a', responses: { 204: {} }, ...operation } } },
    components: { schemas: { Ids: { type: 'array' }, Refined: { $ref: '#/components/schemas/Ids' } } },
  } as Document
  return checkDocument(document)
}

const parameter = (more: Partial<Parameter> & object) =>
  problems({ parameters: [{ name: 'p', in: 'query', schema: {}, ...more }] })

t.test('supported features are accepted', async (t) => {
  const method = 'post'
  t.same(problems({ requestBody: { content: json }, responses: { 200: { content: json }, 204: {} } }, { method }), [])
  t.same(problems({ requestBody: { content: { ...json, 'application/merge-patch+json': {} } } }, { method }), [])
  const types = [
    'text/csv',
    'Text/HTML;Charset=utf-8',
    'image/png',
    'application/x.y+json;a="b"',
    'application/octet-stream',
  ]
  const content = Object.fromEntries(types.map((type) => [type, {}]))
  t.same(
    problems({ responses: { 200: { content }, 201: { content: { '*/*': {} } }, 202: { content: { 'image/*': {} } } } }),
    [],
  )
  t.same(problems({}, { path: '/{a}/{b}.{c}-{d}' }), [])
  t.same(parameter({ style: 'pipeDelimited', schema: { type: 'array' } }), [])
  t.same(parameter({ style: 'deepObject', schema: { type: ['object', 'null'] } }), [])
  t.same(parameter({ in: 'header', schema: { properties: {} } }), [])
  t.same(parameter({ allowEmptyValue: true, schema: { type: ['integer', 'null'] } }), [])
  t.same(problems({ parameters: [{ name: 'p', in: 'query', content: json }] }), [])
})

t.test('every unsupported feature is reported with its location and a fix', async (t) => {
  const at = '#/paths/%2Fa/get'.replace('%2F', '~1')
  const p = `${at}/parameters/0: parameter p:`
  t.same(problems({}, { path: '/{a}{b}' }), [
    '#/paths/~1%7Ba%7D%7Bb%7D: parameters need text between them, such as a slash; add some',
  ])
  const name = 'contains a slash or a character of URI templates; name the parameter by a word, as in {id}'
  for (const path of ['/a/{b=c/*}', '/a{.b}', '/a{/b}', '/a{&b}'])
    t.same(problems({}, { path }), [`${pointer('#', 'paths', path)}: ${path.slice(path.indexOf('{'))} ${name}`], path)
  t.same(problems({ parameters: [{ name: '.b', in: 'path', required: true, schema: {} }] }, { path: '/a{.b}' }), [])
  t.same(problems({}, { method: 'trace' }), ['#/paths/~1a/trace: TRACE is not supported; remove the operation'])
  for (const type of ['string', undefined]) t.same(parameter({ style: 'deepObject', schema: { type } }), [])
  const labels = { name: 'labels', in: 'query', schema: { type: 'object', additionalProperties: { type: 'string' } } }
  t.same(problems({ parameters: [labels, { name: 'p', in: 'query', schema: { type: 'string' } }] }), [])
  t.same(problems({ parameters: [{ name: 'p', in: 'query' }] }), [`${p} has no schema; add one`])
  t.same(problems({ parameters: [{ name: 'p', in: 'query', content: {} }] }), [
    `${p} its content has 0 media types; use exactly one`,
  ])
  t.same(parameter({ in: 'path', schema: { $ref: '#/components/schemas/Refined' } }), [
    `${p} is split into several values, so it must be the only parameter in its path segment, at its end; put a / before and after it`,
  ])
  t.same(problems({ requestBody: { content: text } }, { method: 'put' }), [
    '#/paths/~1a/put/requestBody/content: text is not a media type; use one such as text/plain',
  ])
  t.same(problems({ requestBody: { required: true, content: json } }, { method: 'head' }), [
    '#/paths/~1a/head: a required body of HEAD is not supported; use parameters or POST',
  ])
  t.same(parameter({ explode: false, schema: { type: 'array', items: { type: 'object' } } }), [
    `${p} its style cannot write an array of objects or arrays; use style deepObject, or describe it by content with application/json`,
  ])
  t.same(parameter({ in: 'cookie', schema: { type: 'object', properties: { a: { type: 'array' } } } }), [
    `${p} its style cannot write the objects or arrays in it; describe it by content with application/json`,
  ])
  t.same(problems({ responses: { 101: {} } }), [
    `${at}/responses/101: a status from 100 to 199 does not end a request; remove it`,
  ])
  t.same(problems({ responses: { '2xx': {} } }), [
    `${at}/responses/2xx: is not a status; use a number from 200 to 599, a range such as 4XX, or default`,
  ])
  t.same(problems({ servers: [{ url: '{base}' }] }), [
    '#/paths/~1a: {base}/a does not begin with /; begin the server URL with / or with a scheme such as https://',
  ])
  for (const code of ['%2F', '%7Bb%7D', '%2a', '%', '%80', '%00'])
    t.match(problems({ servers: [{ url: `/a${code}b` }] }), [
      `#/paths/~1a: /a${code}b/a contains %, which is not supported in a path; remove it`,
    ])
  t.same(problems({ responses: { 200: { content: { json: {} } } } }), [
    `${at}/responses/200/content: json is not a media type; use one such as text/plain`,
  ])
  t.same(problems({ responses: { 200: { content: { 'text/*': {}, 'application/json;charset="UTF-16"': {} } } } }), [
    `${at}/responses/200/content: application/json;charset="UTF-16" has a charset that cannot be written; use utf-8`,
  ])
})

t.test('what OpenAPI ignores gives a warning', async (t) => {
  const at = '#/paths/~1a/get'
  const warnings = (operation: object, more?: Where) => findings(operation, more).warnings
  t.same(warnings({ requestBody: { content: json } }, { openapi: '3.0.3' }), [
    `${at}/requestBody: a GET has no body in OpenAPI 3.0; it is ignored`,
  ])
  t.same(warnings({ requestBody: { content: json } }, { method: 'head' }), [
    '#/paths/~1a/head/requestBody: the optional body of a HEAD is ignored; use parameters',
  ])
  const media = { schema: { type: 'object', properties: { a: { type: 'array' } } } }
  const requestBody = {
    content: { 'multipart/form-data': { ...media, encoding: { a: { style: 'deepObject', explode: true }, b: {} } } },
  }
  t.same(warnings({ requestBody }, { openapi: '3.0.3', method: 'post' }), [
    `#/paths/~1a/post/requestBody/content/multipart~1form-data/encoding/a: OpenAPI 3.0 ignores style and explode in multipart/form-data`,
  ])
  t.same(warnings({ responses: { 204: { content: json }, 304: { content: json } } }), [
    `${at}/responses/204: a 204 response has no body; its content is ignored`,
    `${at}/responses/304: a 304 response has no body; its content is ignored`,
  ])
  t.same(warnings({}, { path: '/{a}#b' }), [
    '#/paths/~1%7Ba%7D%23b: no request has a fragment, so the path is served without it',
  ])
  for (const path of ['/a/:b', '/a/<b>'])
    t.same(warnings({}, { path }), [
      `${pointer('#', 'paths', path)}: ${path.slice(3)} is a literal part of the path; write {b} for a parameter`,
    ])
  t.same(warnings({}, { path: '/a b' }), [
    '#/paths/~1a%20b: contains a space, which a request sends as %20; remove it unless it is meant',
  ])
  t.same(warnings({ servers: [{ url: 'v1' }] }), [`${at}/servers: v1 is relative; it is served as /v1`])
  for (const [responses, openapi] of [
    [undefined, '3.1.0'],
    [{ 'x-more': {} }, '3.0.3'],
  ] as const)
    t.same(warnings({ responses }, { openapi }), [
      `${at}: has no response; its handler may return any status, without a body`,
    ])
  const empty = { name: 'p', in: 'query', allowEmptyValue: true, schema: { type: 'integer' } }
  t.same(warnings({ parameters: [empty] }), [
    `${at}/parameters/0: parameter p: an empty value is rejected, since it is not of type integer; add the type 'null', or remove allowEmptyValue`,
  ])
  t.same(warnings({ parameters: [{ ...empty, schema: { type: 'string' } }] }), [])
})

t.test('what is served otherwise than an author may expect gives a warning', async (t) => {
  const at = '#/paths/~1a/get'
  t.same(findings({ requestBody: { required: true, content: json } }), {
    rejected: [],
    warnings: [`${at}: many clients and proxies, such as fetch, cannot send the body of a GET; use parameters or POST`],
  })
  const latin = 'text/plain; charset=latin1'
  t.same(findings({ responses: { 200: { content: { 'text/*': {}, json: {}, [latin]: {}, 'text/html;': {} } } } }), {
    rejected: [],
    warnings: [
      `${at}/responses/200/content/json: is not a media type, so it is ignored; name each media type`,
      `${at}/responses/200/content/text~1html%3B: is served as text/html; write it so`,
      `${at}/responses/200/content: ${latin} has a charset other than utf-8, so a handler returns its bytes`,
    ],
  })
  const number = { schema: { type: 'number' } }
  const headers = {
    'X-A': { content: json },
    'X-B': { content: { 'text/plain': { schema: { type: 'string' } } } },
    'X-C': { content: { 'text/plain': {} } },
    'X-D': { content: { 'text/plain': number } },
    'X-E': { content: { 'application/pdf': {} } },
    'X-Request-Id': { content: { 'text/plain': number } },
  }
  t.same(findings({ responses: { 204: { headers } } }), {
    rejected: [],
    warnings: ['D: text/plain', 'E: application/pdf'].map(
      (one) =>
        `${at}/responses/204/headers/X-${one[0]}: header X-${one} is written as a string; use application/json or text/plain`,
    ),
  })
})

const get = (operationId?: string) => ({ get: { operationId, responses: { 204: {} } } })
const document = (more: object) =>
  ({ openapi: '3.1.0', info: { title: 'Test', version: '1.0.0' }, ...more }) as Document

t.test('two operations of one path are rejected, unless parameters with one value distinguish them', async (t) => {
  const rejection = async (paths: object) =>
    compileDocument(document({ paths }), 'a.yaml').then(
      () => [],
      ({ problems }: RejectedDocument) => problems.map(({ pointer, text }) => `${pointer}: ${text}`),
    )
  const item = (id: string, ...parameters: object[]) => ({ ...get(id), parameters })
  const query = (name: string, schema: object, required = true) => ({ name, in: 'query', required, schema })
  const inPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } })
  const apart = 'remove one of them, or distinguish them by a required query or header parameter with one value'
  t.same(await rejection({ '/{a}': item('a', inPath('a')), '/{b}': item('b', inPath('b')) }), [
    `#/paths/~1%7Bb%7D/get: GET /{b} is already served by another operation; ${apart}`,
  ])
  const shared = `#/paths/~1%23b/get: GET / is already served by another operation, since a request has no fragment; ${apart}`
  const post = (operationId: string, ...types: string[]) => ({
    post: {
      operationId,
      responses: { 204: {} },
      ...(types.length > 0 && { requestBody: { content: Object.fromEntries(types.map((type) => [type, {}])) } }),
    },
  })
  t.same(await rejection({ '/a#a': post('a', 'text/a', 'text/b'), '/a#b': post('b', 'text/c') }), [])
  for (const types of [['text/a'], ['TEXT/b;c=d'], ['text/*'], []])
    t.equal((await rejection({ '/a#a': post('a', 'text/a', 'text/b'), '/a#b': post('b', ...types) })).length, 1)
  for (const twins of [
    ['/?a=1', '/?a=1#b'],
    ['/?b&a=1', '/?a=1&b='],
  ])
    t.same(
      (await rejection(Object.fromEntries(twins.map((path, index) => [path, get(String(index))])))).length,
      1,
      String(twins),
    )
  t.same(await rejection({ '/?a=1': get('a'), '/?a=2': get('b'), '/?a={a}': get('c'), '/': get('d') }), [])
  for (const path of ['/?', '/a?b=c{d}', '/a?b={c', '/a?{b}'])
    t.match((await rejection({ [path]: get('a') })).join(), /contains [?{], which is not supported in a path/, path)
  t.same(await rejection({ '/#a': get('a'), '/#b': get('b') }), [shared])
  const one = query('q', { enum: ['1'] })
  for (const other of [
    query('q', { enum: ['1', '2'] }),
    query('q', { enum: ['2'] }, false),
    query('q', { enum: [null] }),
  ])
    t.same(await rejection({ '/#a': item('a', other), '/#b': item('b', other) }), [shared])
  t.same(await rejection({ '/#a': item('a', one), '/#b': item('b', one) }), [shared])
  t.same(await rejection({ '/#a': item('a', one), '/#b': item('b', query('q', { type: 'integer', const: 1 })) }), [
    shared,
  ])
  const two = query('p', { const: 'a' })
  t.same(await rejection({ '/#a': item('a', one, two), '/#b': item('b', two, one) }), [shared])
  const told = {
    '/#a': item('a', one),
    '/#b': item('b', query('q', { type: 'boolean', const: true })),
    '/#c': item('c', { ...one, in: 'header' }),
    '/#d': get('d'),
  }
  t.same(await rejection(told), [])
  t.same(checkDocument(document({ paths: told })).warnings, [
    '#/paths/~1%23d: no request has a fragment, so the path is served without it',
  ])
})

t.test('an operation whose name is taken gets one of its own', async (t) => {
  const taken = document({
    paths: { '/a/b': get(), '/a-b': get(), '/c': get(), '/d': get('getC'), '/e': get('getC'), '/e/': get('getC') },
  })
  const isGiven = 'has the operationId getC of another operation'
  t.same(checkDocument(taken), {
    rejected: [],
    warnings: [
      '#/paths/~1a~1b/get: has no operationId; its handler is named getAB, after its method and path',
      '#/paths/~1a-b/get: has no operationId; its handler is named getAB2, after its method and path',
      '#/paths/~1c/get: has no operationId; its handler is named getC2, after its method and path',
      `#/paths/~1e/get: ${isGiven}; its handler is named getE, after its method and path`,
      `#/paths/~1e~1/get: ${isGiven}; its handler is named getE2, after its method and path`,
    ],
  })
  const { files, routes } = await compileDocument(taken, 'a.yaml')
  const { paths } = JSON.parse(files['openapi.json'] as string)
  const published = Object.values<{ get: { operationId?: string } }>(paths).map((item) => item.get.operationId)
  t.same(published, [undefined, undefined, undefined, 'getC', 'getE', 'getE2'], 'no name is published twice')
  t.same(routes.operations.map(({ operationId }) => operationId).sort(), [
    'getAB',
    'getAB2',
    'getC',
    'getC2',
    'getE',
    'getE2',
  ])
})

t.test('a problem that several operations share is reported once', async (t) => {
  const schemes = { securitySchemes: { known: { type: 'http', scheme: 'bearer' } } }
  const responses = { 200: { $ref: '#/components/responses/Text' } }
  const wrong = { plain: { schema: {} } }
  const security = [{ known: [], 'a/b': [] }]
  const paths = {
    '/a': { get: { operationId: 'a', responses }, put: { operationId: 'b', responses } },
    '/c': { get: { operationId: 'c', responses, security: [{ none: [] }] } },
  }
  const components = { ...schemes, responses: { Text: { content: wrong } } }
  t.same(checkDocument(document({ security, paths, components })).rejected, [
    '#/security: a/b is not in #/components/securitySchemes; add it there',
    '#/components/responses/Text/content: plain is not a media type; use one such as text/plain',
    '#/paths/~1c/get/security: none is not in #/components/securitySchemes; add it there',
  ])
})

t.test('an invalid pattern is found below any property name, but not in data', async (t) => {
  const bad = { pattern: '(' }
  const names = ['default', 'example', 'enum', 'examples', 'const', 'x-more', 'properties']
  const properties = Object.fromEntries(names.map((name) => [name, bad]))
  const schemas = { Words: { properties, default: bad, example: bad, enum: [bad], const: bad, 'x-more': bad } }
  t.same(
    checkDocument(document({ components: { schemas } })).rejected,
    names.map(
      (name) =>
        `#/components/schemas/Words/properties/${name}/pattern: ( is not a regular expression of ECMA-262; correct it`,
    ),
  )
})

const loop = 'refers back to itself without a property or an item in between, so validation would never end; remove it'

t.test('schemas that would not be checked are rejected', async (t) => {
  const schemas = {
    Id: { $id: 'https://example.com/a', properties: { $id: { type: 'string' }, pattern: { pattern: '^a' } } },
    Dialect: { $schema: 'https://example.com/b' },
    Far: { $ref: 'https://example.com/a', enum: [{ $id: 'a' }], 'x-more': { $id: 'a' } },
    Patterns: { pattern: '(', patternProperties: { '[': true, '^a': true } },
    Nullable: { type: 'string', nullable: true },
    Flag: { $ref: '#/components/schemas/Nullable/nullable' },
    Loop: { anyOf: [{ type: 'null' }, { $ref: '#/components/schemas/Back' }] },
    Back: { allOf: [{ $ref: '#/components/schemas/Loop' }] },
    Malformed: { $ref: '#/components/schemas/100%' },
  }
  t.same(checkDocument(document({ components: { schemas }, jsonSchemaDialect: 'https://example.com/b' })).rejected, [
    '#/jsonSchemaDialect: https://example.com/b is not supported; use JSON Schema 2020-12, or draft 4 to 2019-09',
    '#/components/schemas/Id/%24id: is not supported; refer to the schema by its JSON pointer, with $ref',
    '#/components/schemas/Dialect/%24schema: https://example.com/b is not supported; use JSON Schema 2020-12, or draft 4 to 2019-09',
    '#/components/schemas/Far/%24ref: https://example.com/a does not point into this document; use a reference that begins with #/',
    '#/components/schemas/Patterns/pattern: ( is not a regular expression of ECMA-262; correct it',
    '#/components/schemas/Patterns/patternProperties: [ is not a regular expression of ECMA-262; correct it',
    '#/components/schemas/Flag/%24ref: #/components/schemas/Nullable/nullable does not resolve; correct the reference',
    `#/components/schemas/Loop/anyOf/1/%24ref: #/components/schemas/Back ${loop}`,
    `#/components/schemas/Back/allOf/0/%24ref: #/components/schemas/Loop ${loop}`,
    '#/components/schemas/Malformed/%24ref: #/components/schemas/100% does not resolve; correct the reference',
  ])
  t.same(checkDocument(document({ jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base' })).rejected, [])
})

t.test('a format that is not exact gives a warning, and an exclusive limit of 3.0 is rejected in 3.1', async (t) => {
  const schemas = {
    Number: { type: 'number', format: 'int64' },
    Any: { format: 'uint64' },
    Text: { type: 'string', format: 'int64' },
    Exact: { type: ['integer', 'null'], format: 'int64' },
    Limit: { type: 'integer', minimum: 1, exclusiveMinimum: true },
  }
  const { rejected, warnings } = checkDocument(document({ components: { schemas } }))
  t.same(warnings, [
    '#/components/schemas/Number/format: int64 is exact for the type integer only; use that, since numbers are rounded',
    '#/components/schemas/Any/format: uint64 is exact for the type integer only; use that, since numbers are rounded',
  ])
  t.same(rejected, ['#/components/schemas/Limit/exclusiveMinimum: must be a number since OpenAPI 3.1; correct it'])
})

t.test('a name that is no media type is ignored beside one, with a warning', async (t) => {
  const of = (content: object) => {
    const get = { operationId: 'a', responses: { 200: { description: 'd', content } } }
    return checkDocument(document({ openapi: '3.0.3', paths: { '/a': { get } } }))
  }
  const code = { code: { examples: { one: { value: 1 } } } }
  const at = '#/paths/~1a/get/responses/200/content'
  t.same(of({ 'text/plain': {}, ...code, tag: { schema: {} } }), {
    rejected: [],
    warnings: ['code', 'tag'].map(
      (name) => `${at}/${name}: is not a media type, so it is ignored; name each media type`,
    ),
  })
  t.same(of(code).rejected, [`${at}: code is not a media type; use one such as text/plain`])
})

t.test('application/*+json is application/json, with a warning', async (t) => {
  const of = (...types: string[]) => {
    const content = Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]))
    const post = { operationId: 'a', requestBody: { content }, responses: { 200: { description: 'd', content } } }
    return checkDocument(document({ openapi: '3.0.3', paths: { '/a': { post } } }))
  }
  const place = (at: string) => `#/paths/~1a/post/${at}/content`
  t.same(of('application/json', 'application/*+json'), {
    rejected: [],
    warnings: ['requestBody', 'responses/200'].map(
      (at) => `${place(at)}/application~1*%2Bjson: is not a media type, so it is ignored; name each media type`,
    ),
  })
  t.same(of('application/*+json'), {
    rejected: [],
    warnings: ['requestBody', 'responses/200'].map(
      (at) => `${place(at)}/application~1*%2Bjson: is served as application/json; write it so`,
    ),
  })
})
