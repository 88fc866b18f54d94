import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import type { Problem, RejectedDocument } from '../../src/rules/problems.ts'
import { serveDocument } from '../support/serve-document.ts'

const json = (schema: unknown) => ({ content: { 'application/json': { schema } } })

/** Returns a document with one operation, whose request and response have the same schema. */
const documentOf = (schema: unknown, more: object = {}) =>
  ({
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: {
      '/a': {
        post: { operationId: 'a', requestBody: { required: true, ...json(schema) }, responses: { 200: json(schema) } },
      },
    },
    ...more,
  }) as unknown as Document

const echo = async ({ body }: { body: unknown }) => ({ status: 200, body })

async function post(document: Document, payload: string) {
  const app = await serveDocument(document, { handlers: { a: echo as never } })
  const headers = { 'content-type': 'application/json' }
  const answer = await app.inject({ method: 'POST', url: '/a', headers, payload })
  return answer.statusCode === 200 ? answer.body : answer.json().message
}

t.test('boolean schemas in an allOf, behind a $ref and as a property are typed and served', async (t) => {
  const schemas = { Anything: true, Nothing: false }
  const any = { $ref: '#/components/schemas/Anything' }
  const never = { $ref: '#/components/schemas/Nothing' }
  const document = documentOf(
    { allOf: [true, { type: 'object', properties: { any, all: true, never, none: false } }] },
    { components: { schemas } },
  )
  const { 'api.d.ts': types = '' } = (await compileDocument(document, 'a.yaml')).files
  t.match(types, /^ {8}Anything: unknown;$/m)
  t.match(types, /^ {8}Nothing: never;$/m)
  t.match(types, /all\?: unknown;\s+never\?: components\["schemas"\]\["Nothing"\];\s+none\?: never;/)
  t.equal(await post(document, '{"any":1,"all":{"b":[null]}}'), '{"any":1,"all":{"b":[null]}}')
  t.equal(await post(document, '{"none":1}'), 'body/none boolean schema is false')
  t.equal(await post(document, '{"never":1}'), 'body/never must NOT be valid')
})

t.test('a $ref to no schema is rejected with its location', async (t) => {
  const problem = 'does not point to a schema; move the schema to #/components/schemas'
  const cases = {
    '#/components/schemas/None': 'does not resolve; correct the reference',
    '#/paths/~1a/post/responses': problem,
    '#/components/examples/A/value': problem,
  }
  for (const [$ref, problem] of Object.entries(cases)) {
    const components = { examples: { A: { value: { type: 'string' } } } }
    await t.rejects(compileDocument(documentOf({ $ref }, { components }), 'a.yaml'), {
      message: new RegExp(`/schema/%24ref: ${$ref.replaceAll('/', '\\/')} ${problem}`),
    })
  }
})

t.test('a nested schema and a component of one name are both kept', async (t) => {
  const schemas = { A: { type: 'object', properties: { b: { type: 'string' } } }, 'A.properties.b': { type: 'number' } }
  const schema = {
    type: 'object',
    properties: {
      deep: { $ref: '#/components/schemas/A/properties/b' },
      named: { $ref: '#/components/schemas/A.properties.b' },
    },
  }
  const document = documentOf(schema, { components: { schemas } })
  t.equal(await post(document, '{"deep":"c","named":1}'), '{"deep":"c","named":1}')
  t.equal(await post(document, '{"deep":1,"named":"c"}'), 'body/deep must be string; body/named must be number')
})

t.test('an object without properties allows any, one with additionalProperties false allows none', async (t) => {
  const typesOf = async (schema: object) =>
    (await compileDocument(documentOf(schema), 'a.yaml')).files['api.d.ts'] ?? ''
  t.match(await typesOf({ type: 'object' }), /type ABody = \{\s+\[key: string\]: unknown;\s+\};/)
  t.match(await typesOf({ type: 'object', additionalProperties: false }), /"application\/json": Record<string, never>;/)
})

t.test('schemas of any name are served', async (t) => {
  for (const name of ['constructor', 'toString', '__proto__', '.', '..', 'a b', 'A:B']) {
    const schemas = Object.fromEntries([[name, { type: 'string' }]])
    const document = documentOf(
      { $ref: `#/components/schemas/${encodeURIComponent(name)}` },
      { components: { schemas } },
    )
    t.equal(await post(document, '"a"'), '"a"', name)
    t.equal(await post(document, '1'), 'body must be string', name)
  }
})

t.test('a schema that cannot be compiled is rejected when generating', async (t) => {
  const schemas = {
    A: { enum: {} },
    B: { type: 'array', items: { $ref: '#/components/schemas/A' } },
    C: { enum: {}, $ref: '#/components/schemas/B' },
  }
  const { message } = await compileDocument(
    documentOf({ $ref: '#/components/schemas/C' }, { components: { schemas } }),
    'a',
  ).then(
    () => new Error('taken'),
    (error: Error) => error,
  )
  t.match(
    message,
    /^a cannot be served as written:\n {2}#\/components\/schemas\/A\/enum: [^\n]+\n {2}#\/components\/schemas\/C\/enum: [^\n]+\n2 problems affect 1 of 1 operations$/,
    'where it stands, once',
  )
})

t.test('a schema of a parameter or a header that cannot be compiled is rejected with its place', async (t) => {
  const schema = { enum: {} }
  const parameters = [{ name: 'p', in: 'query', schema }]
  const responses = { '4XX': { headers: { 'X-A': { schema } } } }
  const document = documentOf({}, { paths: { '/a': { get: { operationId: 'a', parameters, responses } } } })
  await t.rejects(compileDocument(document, 'a.yaml'), {
    message:
      /\n {2}#\/paths\/~1a\/get\/parameters\/0\/schema\/enum: [^\n]+\n {2}#\/paths\/~1a\/get\/responses\/4XX\/headers\/X-A\/schema\/enum: [^\n]+\n2 problems affect 1 of 1 operations$/,
  })
})

t.test('an int64 that would not be exact is rejected', async (t) => {
  const int64 = { type: 'integer', format: 'int64' }
  await t.rejects(compileDocument(documentOf({ contains: int64 }), 'a.yaml'), {
    message: /schema\/contains: int64 values are not exact/,
  })
  await t.resolves(compileDocument(documentOf({ uniqueItems: true, prefixItems: [int64, int64] }), 'a.yaml'))
})

t.test('an invalid error table is rejected', async (t) => {
  const numbers = {
    good: { error: 40000, meaning: 'It is good' },
    'not-a-name': { error: 40001, meaning: 'It is not' },
    low: { error: 399, meaning: 'Too low' },
    again: { error: 40000, meaning: 'There already' },
    silent: { error: 50000 },
  }
  const document = documentOf({}, { 'x-error-numbers': numbers })
  Object.assign((document.paths as { '/a': { post: { responses: object } } })['/a'].post.responses, {
    400: { description: 'Refused (40000, 40002).' },
  })
  await t.rejects(compileDocument(document, 'a.yaml'), {
    message: [
      'a.yaml cannot be served as written:',
      '#/x-error-numbers/again/error: 40000 occurs twice; give each error its own number',
      '#/x-error-numbers/low/error: must be an HTTP status from 400 to 599, times 100, plus a number below 100',
      '#/x-error-numbers/not-a-name: the name must be an identifier in camelCase; rename it',
      '#/x-error-numbers/silent/meaning: must be a string that describes the error',
      '#/paths/~1a/post/responses/400: 40002 is not in x-error-numbers; add it there\n5 problems affect the whole document',
    ].join('\n  '),
  })
})

t.test('an invalid default of a parameter is not used, with a warning', async (t) => {
  const limit = (place: string, schema: object, more: object = {}) => ({
    name: `${place}-limit`,
    in: place,
    schema,
    ...more,
  })
  const parameters = [
    limit('query', { $ref: '#/components/schemas/Limit' }),
    limit('header', { type: 'array', items: { type: 'string' }, default: ['a', 1] }),
    limit('cookie', { type: 'integer', format: 'int64', default: 1 }),
    // A required parameter is never absent, so its default is unused.
    { ...limit('query', { type: 'string', default: 1 }), name: 'needed', required: true },
    // A default within allOf is unused, too.
    { ...limit('query', { allOf: [{ $ref: '#/components/schemas/Limit' }] }), name: 'part' },
  ]
  const Limit = { type: 'integer', minimum: 1, default: 0 }
  const paths = { '/a': { get: { operationId: 'a', parameters, responses: { 204: {} } } } }
  const document = documentOf({}, { paths, components: { schemas: { Limit } } })
  const place = '#/paths/~1a/get/parameters'
  const { routes, warnings, files } = await compileDocument(document, 'a.yaml')
  t.same(warnings, [
    `${place}/0: its default must be >= 1, so it is not used; correct it`,
    `${place}/1: its default/1 must be string, so it is not used; correct it`,
  ])
  const used = routes.operations[0]?.parameters.flatMap((one) => ('default' in one ? [one.name] : []))
  t.same(used, ['cookie-limit'])
  t.match(files['handler-types.d.ts'], /^ {4}cookie: .* & \{ 'cookie-limit': Present \}$/m)
})

t.test('a parameter with a default is always defined for handlers and optional for clients', async (t) => {
  const parameters = [
    { name: 'limit', in: 'query', schema: { type: 'integer', format: 'int64', default: 5 } },
    { name: 'after', in: 'query', schema: { type: ['string', 'null'], default: null } },
    {
      name: 'point',
      in: 'query',
      content: { 'application/json': { schema: { type: 'array', items: { type: 'number' } } } },
    },
    { name: 'note', in: 'header', content: { 'text/plain': {} } },
  ]
  const paths = { '/a': { get: { operationId: 'a', parameters, responses: { 204: {} } } } }
  const { files } = await compileDocument(documentOf({}, { paths }), 'a.yaml')
  const { 'api.d.ts': types = '', 'handler-types.d.ts': handlers } = files
  t.match(types, 'type AQuery = {\n    limit?: bigint;\n    after?: string | null;\n    point?: number[];')
  t.match(types, 'query?: AQuery;')
  t.match(types, 'note?: string;')
  t.match(handlers, /query: .* & \{ limit: Present; after: Present \}$/m)
})

t.test('the problems of all stages are reported at once, the most expensive first, for all still valid', async (t) => {
  const operation = (operationId: string, schema: object, more: object = {}) => ({
    post: { operationId, requestBody: json(schema), responses: { 204: {} }, ...more },
  })
  const schemas = {
    Uncompilable: { enum: {} },
    Unmatched: { type: 'object', properties: { pattern: { type: 'string', pattern: '(' } } },
  }
  const to = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const parameters = [{ name: 'n', in: 'query', schema: { type: 'integer', default: 'a' } }]
  const paths = {
    '/traced': { trace: { operationId: 'traced', responses: { 204: {} } }, ...operation('fine', {}, { parameters }) },
    '/unmatched': operation('unmatched', { allOf: [to('Unmatched'), to('Uncompilable')] }),
    '/within': operation('within', { $ref: '#/paths/~1traced/post/requestBody/content/application~1json/schema' }),
    '/twice//*': operation('starred', {}),
  }
  const document = documentOf({}, { paths, components: { schemas } })
  const lines = [
    'a.yaml cannot be served as written:',
    '#/components/schemas/Uncompilable/enum: must be an array with at least one value, not {}; correct it',
    '#/components/schemas/Unmatched/properties/pattern/pattern: ( is not a regular expression of ECMA-262; correct it',
    '#/paths/~1traced/trace: TRACE is not supported; remove the operation',
    '#/paths/~1twice~1~1*: /twice//* contains *, which is not supported in a path; remove it',
  ]
  const summary =
    '4 problems affect 3 of 5 operations; if you cannot correct them, --skip-unsupported serves the others'
  await t.rejects(compileDocument(document, 'a.yaml'), { message: `${lines.join('\n  ')}\n${summary}` })
})

t.test('a problem names the operations that it costs, and is a warning if no operation uses its place', async (t) => {
  const to = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const schemas = { Broken: { pattern: '(' }, Holder: { items: to('Broken') }, Lone: { allOf: [{ pattern: '(' }] } }
  const get = (operationId: string, schema: object) => ({ operationId, responses: { 200: json(schema) } })
  const paths = {
    '/direct': { get: get('direct', to('Holder')), put: get('fine', {}) },
    '/part': { get: get('part', { $ref: '#/paths/~1direct/get/responses/200/content/application~1json/schema' }) },
    '/shared': { $ref: '#/components/pathItems/Shared' },
  }
  const pathItems = { Shared: { get: get('shared', to('Broken')) } }
  const document = (paths: object) => documentOf({}, { paths, components: { schemas, pathItems } })
  const { problems } = await compileDocument(document(paths), 'a.yaml').then(
    () => ({ problems: [] as Problem[] }),
    (error: RejectedDocument) => error,
  )
  const text = '( is not a regular expression of ECMA-262; correct it'
  const operations = ['GET /direct', 'GET /part', 'GET /shared']
  t.same(problems, [{ pointer: '#/components/schemas/Broken/pattern', text, operations }])
  const { warnings, files } = await compileDocument(document({ '/a': { get: get('a', {}) } }), 'a.yaml')
  t.same(warnings, [
    `#/components/schemas/Broken/pattern: ${text} (no operation uses it)`,
    `#/components/schemas/Lone/allOf/0/pattern: ${text} (no operation uses it)`,
  ])
  t.match(files['openapi.json'], /Lone/, 'the published document has it all the same')
})
