import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import t from 'tap'
import type { Verifier } from '../../src/auth/verifiers.ts'
import { ContractError } from '../../src/contract/errors.ts'
import type { Schema } from '../../src/contract/schema-keywords.ts'
import { createServer } from '../../src/index.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { type Served, serveDocument, testLimits } from '../support/serve-document.ts'

const int64 = { type: 'integer', format: 'int64' }
const json = (schema: Schema) => ({ content: { 'application/json': { schema } } })

/** A document unlike the plant store's, because the engine must serve any document. */
const document: Document = {
  openapi: '3.1.0',
  info: { title: 'Test', version: '1.0.0' },
  paths: {
    '/things/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: int64 }],
      get: {
        operationId: 'getThing',
        parameters: [
          { $ref: '#/components/parameters/Size' },
          { name: 'X-Trace', in: 'header', schema: { type: 'string', maxLength: 3 } },
        ],
        responses: {
          200: { description: 'ok', ...json({ type: 'object', required: ['id'], properties: { id: int64 } }) },
          204: { description: 'nothing' },
          '4XX': { description: 'refused', ...json({ type: 'object', properties: { error: { type: 'integer' } } }) },
        },
      },
      put: {
        operationId: 'putThing',
        security: [{ key: [] }, { bearer: [], basic: [] }],
        requestBody: json({ $ref: '#/components/schemas/Thing', maxProperties: 1 }),
        responses: { 200: { description: 'ok', ...json({}) } },
      },
    },
    '/things:count': { get: { operationId: 'countThings', responses: { 200: { description: 'ok', ...json(int64) } } } },
  },
  components: {
    parameters: { Size: { name: 'size', in: 'query', schema: { type: 'integer', format: 'int32' } } },
    schemas: { Thing: { type: 'object', properties: { id: int64 } } },
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'x-key' },
      bearer: { type: 'http', scheme: 'bearer' },
      basic: { type: 'http', scheme: 'basic' },
    },
  } as object,
}

const needs =
  (header: string): Verifier =>
  ({ headers }, done) =>
    done(headers[header] === undefined ? new ContractError('missingToken', `needs ${header}`) : undefined)
const verifiers = { key: needs('x-key'), bearer: needs('x-bearer'), basic: needs('x-basic') }

const handlers: Record<string, AnyHandler> = {
  getThing: async ({ path, query, header }: { path: object; query: object; header: object }) => ({
    status: 200,
    body: { ...path, seen: { query, header } },
  }),
  putThing: async ({ body }: { body: unknown }) => ({ status: 200, body: { body: body ?? null } }),
  countThings: async () => ({ status: 200, body: 9007199254740993n }),
}

type Given = Served & { document?: Document }

const create = ({ document: given = document, ...options }: Given = {}) =>
  serveDocument(given, { handlers, verifiers, ...options })

t.test("parameters reach the handler as their schemas' types", async (t) => {
  let seen: unknown
  const getThing = async (request: unknown) => {
    seen = request
    return { status: 200, body: { id: 9007199254740993n } }
  }
  const app = await create({ handlers: { ...handlers, getThing } })
  const headers = { 'x-trace': 'abc', other: 'x' }
  const answer = await app.inject({ url: '/things/9007199254740993?size=7&other=x', headers })
  t.equal(answer.body, '{"id":9007199254740993}')
  t.same(seen, {
    body: undefined,
    path: { id: 9007199254740993n },
    query: { size: 7 },
    header: { 'X-Trace': 'abc' },
    cookie: {},
    client: undefined,
  })
  const refused = await app.inject({ url: '/things/x?size=y', headers: { 'x-trace': 'long' } })
  t.same(refused.json(), { error: 40003, message: 'path/id must be an int64 integer' })
})

t.test('a handler gets the client of the first scheme that names one', async (t) => {
  const client = { name: 'gardener', scopes: ['things:write'] }
  const named: Verifier = ({ headers }, done) =>
    headers['x-basic'] === undefined
      ? done(new ContractError('missingToken', 'needs x-basic'))
      : done(undefined, client)
  const seen: unknown[] = []
  const putThing = async ({ client }: { client: unknown }) => {
    seen.push(client)
    return { status: 200, body: {} }
  }
  const app = await create({ handlers: { ...handlers, putThing }, verifiers: { ...verifiers, basic: named } })
  const put = (headers: Record<string, string>) => app.inject({ method: 'PUT', url: '/things/1', headers })
  await put({ 'x-bearer': 'b', 'x-basic': 'b' })
  await put({ 'x-key': 'k' })
  t.same(seen, [client, undefined])
})

t.test('siblings of a $ref apply', async (t) => {
  const app = await create()
  const put = (payload: string) =>
    app.inject({
      method: 'PUT',
      url: '/things/1',
      headers: { 'x-key': 'k', 'content-type': 'application/json' },
      payload,
    })
  t.equal((await put('{"id":9007199254740993}')).body, '{"body":{"id":9007199254740993}}')
  t.match((await put('{"id":1,"a":2}')).json(), { error: 40003, message: /more than 1/ })
})

t.test('an optional body may be missing', async (t) => {
  const app = await create()
  const answer = await app.inject({ method: 'PUT', url: '/things/1', headers: { 'x-key': 'k' } })
  t.equal(answer.body, '{"body":null}')
  const untyped = await app.inject({
    method: 'PUT',
    url: '/things/1',
    headers: { 'x-key': 'k' },
    payload: Buffer.from('{}'),
  })
  t.equal(untyped.statusCode, 415)
})

t.test('an operation without a body ignores a JSON body and rejects any other with 415', async (t) => {
  const seen: unknown[] = []
  const note = async ({ body }: { body: unknown }) => {
    seen.push(body)
    return { status: 204, body: undefined }
  }
  const responses = { 204: { description: 'done' } }
  const withoutBody: Document = {
    ...document,
    paths: {
      ...document.paths,
      '/things': { post: { operationId: 'noteAll', responses } },
      '/things/{id}/note': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: int64 }],
        post: { operationId: 'noteOne', responses },
      },
    },
  }
  const app = await create({ document: withoutBody, handlers: { ...handlers, noteAll: note, noteOne: note } })
  for (const url of ['/things', '/things/1/note']) {
    const post = (type: string | undefined, payload: string) =>
      app.inject({ method: 'POST', url, headers: { ...(type && { 'content-type': type }) }, payload })
    t.equal((await post('application/json', '{}')).statusCode, 204)
    for (const type of ['text/plain', 'nonsense', undefined]) {
      const answer = await post(type, 'text')
      t.equal(answer.statusCode, 415, `${type}`)
      t.same(answer.json(), { error: 41500, message: 'the operation has no body; send none' })
    }
  }
  t.same(seen, [undefined, undefined])
})

t.test('one of the security requirements must be met, and all of its schemes', async (t) => {
  const app = await create()
  const put = async (headers: Record<string, string>) =>
    (await app.inject({ method: 'PUT', url: '/things/1', headers })).statusCode
  t.equal(await put({}), 401)
  t.equal(await put({ 'x-bearer': 'b' }), 401)
  t.equal(await put({ 'x-basic': 'b' }), 401)
  t.equal(await put({ 'x-key': 'k' }), 200)
  t.equal(await put({ 'x-bearer': 'b', 'x-basic': 'b' }), 200)
})

t.test('only operations of the document are reachable', async (t) => {
  const app = await create()
  const ask = async (method: 'GET' | 'HEAD' | 'POST' | 'DELETE', url: string) => {
    const { statusCode, headers } = await app.inject({ method, url })
    return [statusCode, headers.allow]
  }
  t.same(await ask('GET', '/things:count'), [200, undefined])
  t.same(await ask('HEAD', '/things:count'), [200, undefined])
  const [head, get] = await Promise.all(
    (['HEAD', 'GET'] as const).map((method) => app.inject({ method, url: '/things:count' })),
  )
  const { 'x-request-id': _one, date: _two, ...headers } = head?.headers ?? {}
  t.hasStrict(get?.headers, headers)
  t.same([headers['content-length'], head?.body], [String(get?.body.length), ''], 'HEAD gets no body')
  t.same(await ask('DELETE', '/things/1?a=b'), [405, 'GET, HEAD, PUT'])
  t.same(await ask('GET', '/things/1/'), [404, undefined])
  t.same(await ask('GET', '/things'), [404, undefined])
  t.same(await ask('POST', '/'), [404, undefined])
})

t.test('a response that the contract does not list becomes a 500', async (t) => {
  const reply = async (status: number, body: unknown) => {
    const app = await create({ handlers: { ...handlers, getThing: async () => ({ status, body }) } })
    const answer = await app.inject('/things/1')
    return [answer.statusCode, answer.body === '' ? undefined : answer.json()]
  }
  const failed = [500, { error: 50000, message: 'internal error; its X-Request-Id is in the log' }]
  t.same(await reply(201, { id: 1n }), failed)
  t.same(await reply(200, {}), failed)
  t.same(await reply(200, { id: '1' }), failed)
  t.same(await reply(200, { id: 2n ** 63n }), failed)
  t.same(await reply(200, undefined), failed)
  t.same(await reply(204, { id: 1n }), failed)
  t.same(await reply(204, undefined), [204, undefined])
  t.same(await reply(200, { id: 1n, secret: 2 }), [200, { id: 1 }])
  t.same(await reply(418, { error: 1, secret: 2 }), [418, { error: 1 }])
  t.same(await reply(418, { error: 'x' }), failed)
})

t.test('the start fails with the names of operations and handlers that do not match', async (t) => {
  const post = (operation: object): Given => ({
    document: { ...document, security: [], paths: { '/a/{b-c}': { post: { responses: {}, ...operation } } } },
    handlers: { a: handlers.getThing as AnyHandler },
  })
  const { getThing: _, ...missing } = handlers
  const cases: [string, Given, RegExp][] = [
    ['missing handler', { handlers: missing }, /operation getThing has no handler/],
    [
      'surplus handler',
      { handlers: { ...handlers, more: handlers.getThing as AnyHandler } },
      /handler more has no operation/,
    ],
    [
      'inherited handler',
      post({ operationId: 'toString', responses: { 204: {} } }),
      /operation toString has no handler/,
    ],
    [
      'no verifier',
      { verifiers: { key: verifiers.key, bearer: verifiers.bearer } },
      /^the document and its handlers do not match\n {2}operation putThing: security scheme basic has no verifier/,
    ],
    ['no operationId', post({ responses: { 204: {} } }), /operation postAByBC has no handler/],
    [
      'media type',
      post({ operationId: 'a', requestBody: { content: { multipart: {} } } }),
      /requestBody\/content: multipart is not a media type; use one such as/,
    ],
    [
      'the operationId of another operation',
      {
        document: {
          ...document,
          paths: { ...document.paths, '/b': { get: { operationId: 'getThing', responses: {} } } },
        },
      },
      /operation getB has no handler/,
    ],
  ]
  for (const [name, overrides, message] of cases) await t.rejects(create(overrides), { message }, name)
})

t.test('a $ref is replaced by its target', async (t) => {
  const shared: Document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: { '/things': { $ref: '#/components/pathItems/Things' } },
    components: {
      pathItems: {
        Things: {
          post: {
            operationId: 'addThing',
            requestBody: { $ref: '#/components/requestBodies/Thing' },
            responses: { 200: { $ref: '#/components/responses/Thing' } },
          },
        },
      },
      requestBodies: { Thing: { required: true, ...json({ $ref: '#/components/schemas/Thing' }) } },
      responses: { Thing: { description: 'ok', ...json({ $ref: '#/components/schemas/Thing' }) } },
      schemas: { Thing: { type: 'object', required: ['id'], properties: { id: int64 } } },
    },
  }
  const addThing = async ({ body }: { body: unknown }) => ({ status: 200, body })
  const app = await create({ document: shared, handlers: { addThing } })
  const post = (payload: string) =>
    app.inject({ method: 'POST', url: '/things', headers: { 'content-type': 'application/json' }, payload })
  t.equal((await post('{"id":9007199254740993,"a":1}')).body, '{"id":9007199254740993}')
  t.match((await post('{"id":"1"}')).json(), { error: 40003, message: 'body/id must be an int64 integer' })
})

t.test('a document may have no operations', async (t) => {
  const { paths: _, ...empty } = document
  const app = await create({ document: empty, handlers: {} })
  t.equal((await app.inject('/things/1')).statusCode, 404)
})

t.test('extensions for other tools are ignored', async (t) => {
  const responses = { 200: { description: 'ok', ...json({ type: 'string' }) } }
  const paths = { '/a': { get: { operationId: 'a', 'x-no-fastify-config': true, responses } } }
  const app = await create({
    document: { ...document, paths },
    handlers: { a: async () => ({ status: 200, body: 'b' }) },
  })
  t.equal((await app.inject('/a')).body, '"b"')
})

t.test('without a rate limit of authentication failures, every address is within it', async (t) => {
  const within: boolean[] = []
  const app = await create({
    limits: { authFailures: 0 },
    verifiers: async ({ withinFailureLimit }) => {
      const limited: Verifier = (request, done) => {
        within.push(withinFailureLimit(request))
        done(undefined, { name: 'gardener', scopes: [] })
      }
      return { key: limited, bearer: limited, basic: limited }
    },
  })
  const { statusCode } = await app.inject({ method: 'PUT', url: '/things/1' })
  t.same([statusCode, within], [200, [true]])
})

t.test('an injected request gets 503 under overload', async (t) => {
  const app = await create({ limits: { inFlight: 0 } })
  t.match(await app.inject('/things/1'), { statusCode: 503, headers: { 'retry-after': /^[123]$/ } })
  // The connection of a real request is paused in the next turns.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
})

const responses = { 204: { description: 'Done.' } }
const unsupported = { requestBody: { content: { json: {} } }, responses }
const partlySupported = {
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
  const { contract, files, routes } = await compileDocument(partlySupported, 'a.yaml', { skipUnsupported: true })
  const skipped: { operation: string; reasons: string[] }[] = JSON.parse(files['skipped-operations.json'] as string)
  t.match(skipped, [
    { operation: 'GET /files/*', reasons: [/^#\/paths\/~1files~1\*: \/v1\/files\/\* contains \*/] },
    { operation: 'TRACE /pets', reasons: [/TRACE is not supported/] },
    { operation: 'GET /pets/{id}', reasons: [/json is not a media type/] },
  ])
  t.same(
    routes.operations.map(({ operationId }) => operationId),
    ['listPets', 'putPet', 'putSpecial'],
  )
  const handler = async () => ({ status: 204, body: undefined })
  const app = createServer<object>({
    contract,
    handlers: { listPets: handler, putPet: handler, putSpecial: handler } as object,
    verifiers: {},
    limits: testLimits,
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

t.test('of operations that share a path, each request to a skipped one gets 501', async (t) => {
  const inQuery = (value: string) => [{ name: 'action', in: 'query', required: true, schema: { const: value } }]
  const served = (operationId: string, value?: string) => ({
    post: { operationId, ...(value && { parameters: inQuery(value) }), responses },
  })
  const skipped = (operationId: string, value?: string) => {
    const { post } = served(operationId, value)
    return { post: { ...post, responses: { 100: { description: 'No.' } } } }
  }
  const paths = {
    '/first#a': skipped('refused'),
    '/first#b': served('supported'),
    '/shared#a': served('shareA', 'a'),
    '/shared#b': served('shareB', 'b'),
    '/shared#c': skipped('shareC', 'c'),
    '/shared#d': skipped('shareD', 'd'),
    '/plain': served('plain'),
    '/plain#a': skipped('plainA', 'a'),
    '/plain#b': { post: { ...skipped('plainB').post, parameters: 1 } },
    '/lone#a': served('lone', 'a'),
    '/lone#b': skipped('loneB', 'b'),
    '/none#a': skipped('noneA', 'a'),
    '/none#b': skipped('noneB', 'b'),
  }
  const { contract, routes } = await compileDocument({ ...partlySupported, paths } as Document, 'a.yaml', {
    skipUnsupported: true,
  })
  t.same(
    routes.operations.map(({ operationId }) => operationId),
    ['supported', 'shareA', 'shareB', 'plain', 'lone'],
    'the first operation that is supported is served',
  )
  const handlers = routes.operations.map(({ operationId }) => [
    operationId,
    async () => ({ status: 204, body: undefined }),
  ])
  const app = createServer<object>({
    contract,
    handlers: Object.fromEntries(handlers),
    verifiers: {},
    limits: testLimits,
    errorBody: ({ error, message }) => ({ contentType: 'application/json', body: { error, message } }),
  })
  const expected: [target: string, status: number][] = [
    ['/first', 204],
    ['/shared?action=a', 204],
    ['/shared?action=b', 204],
    ['/shared?action=c', 501],
    ['/shared?action=d', 501],
    ['/shared?action=e', 400],
    ['/plain?action=a', 501],
    ['/plain?action=b', 204],
    ['/lone?action=a', 204],
    ['/lone?action=b', 501],
    ['/lone?action=c', 400],
    ['/none?action=a', 501],
    ['/none?action=b', 501],
    ['/none?action=c', 501],
  ]
  for (const [target, status] of expected)
    t.equal((await app.inject({ method: 'POST', url: `/v1${target}` })).statusCode, status, target)
})

t.test('a document of which nothing can be served is rejected, and one without problems has no list', async (t) => {
  const paths = { '/files/*': partlySupported.paths?.['/files/*'] as object }
  await t.rejects(compileDocument({ ...partlySupported, paths }, 'a.yaml', { skipUnsupported: true }), {
    message: /1 problem affects 1 of 1 operations$/,
  })
  const whole = { ...partlySupported, 'x-error-numbers': { a: { error: 1 } } }
  await t.rejects(compileDocument(whole as Document, 'a.yaml', { skipUnsupported: true }), {
    message: /whole document$/,
  })
  const fine = { '/pets': { get: { operationId: 'listPets', responses } } }
  const { contract, files } = await compileDocument({ ...partlySupported, paths: fine }, 'a.yaml', {
    skipUnsupported: true,
  })
  t.notOk('skipped-operations.json' in files)
  t.notOk('skipped' in contract.routes)
  const { message } = (await compileDocument(partlySupported, 'a.yaml').catch(
    (error: Error) => error as Error & object,
  )) as Error
  t.match(
    message,
    /\n3 problems affect 3 of 6 operations; if you cannot correct them, --skip-unsupported serves the others$/,
  )
  const webhooks = { sent: { post: { responses } } }
  await t.rejects(compileDocument({ ...partlySupported, webhooks } as Document, 'a.yaml'), {
    message: /\n3 problems affect 3 of 7 operations and webhooks; /,
  })
})

t.test('a request body described under a media type range is JSON, which is validated', async (t) => {
  const schema = { type: 'object', required: ['size'], properties: { size: int64 } }
  const given: unknown[] = []
  const app = await serveDocument(
    {
      openapi: '3.0.3',
      info: { title: 'Range', version: '1.0.0' },
      paths: {
        '/boxes': {
          post: {
            operationId: 'add',
            requestBody: { required: true, content: { '*/*': { schema } } },
            responses: { 204: { description: 'Done' } },
          },
        },
      },
    },
    {
      handlers: {
        add: (async ({ body }: { body: unknown }) => ({
          status: 204,
          body: given.push(body) && undefined,
        })) as unknown as AnyHandler,
      },
    },
  )
  const post = async (type: string, payload: string) => {
    const request = { method: 'POST', url: '/boxes', headers: { 'content-type': type }, payload } as const
    return (await app.inject(request)).statusCode
  }
  t.equal(await post('application/json', '{"size":9007199254740993}'), 204)
  t.same(given, [{ size: 9007199254740993n }])
  t.equal(await post('application/json', '{"size":"1"}'), 400)
  t.equal(await post('text/plain', '{"size":1}'), 415)
})
