import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import { listVerifier } from '../../src/auth/tokens.ts'
import { bearer } from '../../src/auth/verifiers.ts'
import { type McpOptions, type McpTable, mcpServer } from '../../src/mcp/mcp-server.ts'
import { createServer } from '../../src/routes/create-server.ts'
import { testLimits } from '../support/serve-document.ts'

const text = { type: 'string' }
const int64 = { type: 'integer', format: 'int64' }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const pet = {
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: { ...int64, description: 'Its number.', minimum: 1 },
    name: text,
    friends: { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
    rank: { type: ['integer', 'null'], format: 'int64', enum: [1, 2, null] },
    kind: { type: 'integer', format: 'int64', const: 1, title: 'Kind', deprecated: true },
    size: { type: 'integer', format: 'uint64' },
    added: { ...text, readOnly: true },
  },
}
const ref = { $ref: '#/components/schemas/Pet' }
const error = { description: 'Failed.', ...json({ type: 'object', properties: { message: text } }) }

const document = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1.0.0' },
  servers: [{ url: 'https://pets.example/v1' }],
  security: [{ token: [] }],
  paths: {
    '/pets': {
      post: {
        operationId: 'addPet',
        'x-mcp': true,
        summary: 'Add a pet',
        requestBody: { required: true, ...json(ref) },
        responses: { 200: { description: 'Added.', ...json(ref) }, 409: error, default: error },
      },
    },
    '/names': {
      get: {
        operationId: 'listNames',
        'x-mcp': true,
        responses: { 200: { description: 'Names.', content: { 'text/plain': {} } } },
      },
    },
    '/pets/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, description: 'Its number.', schema: int64 }],
      delete: {
        operationId: 'removePet',
        'x-mcp': true,
        description: 'Removes a pet.',
        parameters: [
          { name: 'why', in: 'query', style: 'pipeDelimited', explode: false, schema: { type: 'array', items: text } },
          { name: 'X-By', in: 'header', schema: text },
          { name: 'any', in: 'query', description: 'Any value.', content: { 'application/json': { schema: true } } },
        ],
        responses: { 204: { description: 'Removed.' }, default: error },
      },
      get: { operationId: 'getPet', responses: { 204: { description: 'Found.' }, default: error } },
    },
  },
  components: { schemas: { Pet: pet }, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
} as unknown as Document

const { files, routes } = await compileDocument(document, 'pets.yaml')
const table: McpTable = JSON.parse(files['mcp.json'] as string)

const authorization = 'Bearer a-token-of-the-tests-0123456789-abcdef'

/** Serves the document with its tools; returns the URL of the endpoint and what the handlers received. */
async function serve(t: Test, options: Partial<McpOptions> = {}) {
  const received: unknown[] = []
  const observed: object[] = []
  const app = createServer<never>({
    contract: { routes },
    observer: {
      begin() {},
      end: ({ operation, client, status, error }) => observed.push({ operation, client: client?.name, status, error }),
    },
    handlers: {
      async addPet({ body }: { body: { id: bigint; name: string } }) {
        received.push(body)
        if (body.name === 'taken') return { status: 409, body: { message: 'the name is taken' } }
        return { status: 200, body }
      },
      async removePet({ path, query, header }: Record<string, object>) {
        received.push({ path, query, header })
        return { status: 204, body: undefined }
      },
      listNames: async () => ({ status: 200, body: 'Tom' }),
      getPet: async () => ({ status: 204, body: undefined }),
    } as never,
    verifiers: { token: bearer(listVerifier([authorization.slice(7)], [])) },
    errorBody: (({ message }: { message: string }) => ({
      contentType: 'application/json',
      body: { message },
    })) as never,
    limits: { requests: 4, eventLoopDelay: 60_000 },
  })
  app.register(mcpServer, { table, ...options })
  t.teardown(() => app.close())
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}${options.path ?? '/mcp'}`
  return { app, url, received, observed }
}

/** Connects the client of the official SDK. */
async function connect(t: Test, url: string, headers: Record<string, string> = { authorization }) {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  await client.connect(transport as Parameters<Client['connect']>[0])
  t.teardown(() => client.close())
  return async (name: string, args?: Record<string, unknown>) => {
    const { content, isError } = await client.callTool({ name, ...(args && { arguments: args }) })
    return { text: (content as { text: string }[])[0]?.text, isError }
  }
}

t.test('the marked operations are tools, with each int64 as a string', async (t) => {
  const { url } = await serve(t)
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Parameters<Client['connect']>[0])
  t.teardown(() => client.close())
  t.same(client.getServerVersion(), { name: 'Pets', version: '1.0.0' })
  const { tools } = await client.listTools()
  t.same(
    tools.map(({ name }) => name),
    ['addPet', 'listNames', 'removePet'],
  )
  const digits = { type: 'string', pattern: '^-?[0-9]{1,20}$' }
  const [add, list, remove] = tools
  t.equal(add?.title, 'Add a pet')
  t.same(add?.inputSchema, {
    type: 'object',
    properties: { body: { $ref: '#/$defs/Pet.request' } },
    required: ['body'],
    additionalProperties: false,
    $defs: {
      'Pet.request': {
        type: 'object',
        required: ['id', 'name'],
        properties: {
          id: { ...digits, description: 'Its number. An int64 as a string of digits.' },
          name: { type: 'string' },
          friends: { type: 'array', items: { $ref: '#/$defs/Pet.request' } },
          rank: {
            type: ['string', 'null'],
            pattern: digits.pattern,
            description: 'An int64 as a string of digits.',
            enum: ['1', '2', null],
          },
          kind: {
            ...digits,
            description: 'An int64 as a string of digits.',
            title: 'Kind',
            deprecated: true,
            const: '1',
          },
          size: { ...digits, description: 'A uint64 as a string of digits.' },
        },
      },
    },
  })
  t.same(list?.inputSchema, { type: 'object', properties: {}, additionalProperties: false })
  t.same(list?.annotations, { readOnlyHint: true, destructiveHint: false, idempotentHint: true })
  t.same(add?.annotations, { readOnlyHint: false, idempotentHint: false })
  t.match(remove, {
    description: 'Removes a pet.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    inputSchema: {
      properties: {
        path: { properties: { id: { ...digits, description: 'Its number. An int64 as a string of digits.' } } },
        query: { properties: { why: { type: 'array' } } },
        header: { properties: { 'X-By': text } },
      },
      required: ['path'],
    },
  })
})

t.test('a call is exact, and validated like a request', async (t) => {
  const { url, received } = await serve(t)
  const call = await connect(t, url)
  const id = '9007199254740993'
  t.same(await call('addPet', { body: { id, name: 'Tom', friends: [{ id: '-1', name: 'a' }] } }), {
    text: '{"message":"body/friends/0/id must be >= 1"}'.replace(/^/, 'HTTP 400 '),
    isError: true,
  })
  t.same(await call('addPet', { body: { id, name: 'Tom', friends: [{ id, name: 'a' }] } }), {
    text: `{"id":${id},"name":"Tom","friends":[{"id":${id},"name":"a"}]}`,
    isError: false,
  })
  t.same(received, [{ id: BigInt(id), name: 'Tom', friends: [{ id: BigInt(id), name: 'a' }] }])
  t.same(await call('removePet', { path: { id }, query: { why: ['a', 'b'] }, header: { 'X-By': 'me' } }), {
    text: 'HTTP 204',
    isError: false,
  })
  t.match(received[1], { path: { id: BigInt(id) }, query: { why: ['a', 'b'] }, header: { 'X-By': 'me' } })
  const largest = '18446744073709551615'
  t.match(await call('addPet', { body: { id, name: 'a', size: largest } }), {
    text: new RegExp(`"size":${largest}`),
    isError: false,
  })
  t.match(await call('addPet', { body: { id, name: 'a' } }), { text: /^HTTP 429 /, isError: true })
})

t.test('arguments that cannot be sent, and documented errors, are errors of the tool', async (t) => {
  const { url, received } = await serve(t)
  const call = await connect(t, url)
  t.same(await call('listNames'), { text: 'Tom', isError: false })
  const rounded = { body: { id: 9_007_199_254_740_992, name: 'a' } }
  t.match(await call('addPet', rounded), { text: /^body\/id: must be a string of digits/, isError: true })
  t.match(await call('removePet', { path: { id: '' } }), { text: /^path\/id: cannot be empty/, isError: true })
  await t.rejects(call('getPet', {}), { code: -32_602, message: /Unknown tool: getPet/ })
  t.same(received, [])
  t.same(await call('addPet', { body: { id: '1', name: 'taken' } }), {
    text: 'HTTP 409 {"message":"the name is taken"}',
    isError: true,
  })
  t.match(await call('addPet', { body: { id: '12345678901234567890', name: 'a' } }), {
    text: /^HTTP 400 /,
    isError: true,
  })
  t.match(await call('addPet', {}), { text: 'body: is missing', isError: true })
})

const message = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

t.test('a call without valid credentials is a 401 of the endpoint, with the challenge', async (t) => {
  const { url, received } = await serve(t)
  const body = message('tools/call', { name: 'addPet', arguments: { body: { id: '1', name: 'a' } } })
  for (const more of [{}, { authorization: 'Bearer wrong' }]) {
    const response = await fetch(url, { method: 'POST', headers: { ...headers, ...more }, body })
    t.equal(response.status, 401)
    t.match(response.headers.get('www-authenticate'), /^Bearer realm="Pets"/)
  }
  t.same(received, [])
})

t.test('the log and the metrics name the operation, the client and the error of a call', async (t) => {
  const { url, observed } = await serve(t)
  const call = await connect(t, url)
  observed.length = 0
  await call('listNames')
  await call('addPet', { body: { id: '0', name: 'a' } })
  await t.rejects((await connect(t, url, {}))('listNames'))
  t.match(
    observed.filter((each) => 'operation' in each && each.operation !== undefined),
    [
      { operation: 'listNames', client: 'token-1', status: 200, error: undefined },
      { operation: 'addPet', client: 'token-1', status: 200, error: 40003 },
      { operation: 'listNames', client: undefined, status: 401, error: 40101 },
    ],
  )
})

t.test('pages of other origins are rejected against DNS rebinding', async (t) => {
  const { url } = await serve(t, { origins: ['https://inspector.example'], path: '/tools' })
  const post = (origin: string) =>
    fetch(url, { method: 'POST', headers: { ...headers, origin }, body: message('tools/list') })
  t.equal((await post('https://evil.example')).status, 403)
  t.equal((await post('null')).status, 403)
  t.equal((await post('https://inspector.example')).status, 200)
})

t.test('pages of the allowed origins can send messages and read all responses', async (t) => {
  const origin = 'https://inspector.example'
  const { url } = await serve(t, { origins: [origin] })
  const preflight = (from: string) =>
    fetch(url, { method: 'OPTIONS', headers: { origin: from, 'access-control-request-method': 'POST' } })
  const allowed = await preflight(origin)
  t.equal(allowed.status, 204)
  t.equal(allowed.headers.get('access-control-allow-origin'), origin)
  t.equal(allowed.headers.get('access-control-allow-methods'), 'POST')
  const names = 'mcp-protocol-version, mcp-method, mcp-name, accept, content-type, authorization'
  t.equal(allowed.headers.get('access-control-allow-headers'), names)
  const refused = await preflight('https://evil.example')
  t.same([refused.status, refused.headers.get('access-control-allow-origin')], [403, null])
  const { authorization: _, ...anonymous } = headers as Record<string, string>
  for (const [status, body] of [
    [200, message('tools/list')],
    [401, message('tools/call', { name: 'listNames' })],
    [400, '{'],
  ] as const) {
    const response = await fetch(url, { method: 'POST', headers: { ...anonymous, origin }, body })
    const seen = ['access-control-allow-origin', 'access-control-expose-headers', 'vary'].map((name) =>
      response.headers.get(name),
    )
    t.same([response.status, ...seen], [status, origin, 'WWW-Authenticate', 'Origin'])
  }
})

t.test('the endpoint has no sessions and no streams, and bounds each message', async (t) => {
  const { app, url } = await serve(t, { maxMessage: 200 })
  for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
    const response = await fetch(url, { method, headers })
    t.same([response.status, response.headers.get('allow')], [405, 'POST'])
  }
  const listed = await fetch(url, { method: 'POST', headers, body: message('tools/list') })
  t.same([listed.status, listed.headers.get('mcp-session-id')], [200, null])
  t.match(listed.headers.get('content-type'), 'application/json')
  const long = message('tools/list', { cursor: 'a'.repeat(200) })
  t.equal((await fetch(url, { method: 'POST', headers, body: long })).status, 413)
  t.equal((await fetch(url, { method: 'POST', headers, body: '{' })).status, 400)
  t.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 406)
  t.equal((await app.inject({ method: 'POST', url: '/mcp', headers })).statusCode, 400)
  const many = `[${message('ping')},${message('ping')}]`
  t.equal((await fetch(url, { method: 'POST', headers, body: many })).status, 400, 'a batch would multiply the calls')
})

t.test('a document without x-mcp has no tools, and a wrong one is refused', async (t) => {
  const compile = (
    change: (document: Record<string, Record<string, Record<string, Record<string, unknown>>>>) => void,
  ) => {
    const changed = structuredClone(document) as never
    change(changed)
    return compileDocument(changed, 'pets.yaml')
  }
  const none = await compile(({ paths }) => {
    for (const item of Object.values(paths ?? {}))
      for (const operation of [item.post, item.delete, item.get])
        if (operation !== undefined) operation['x-mcp'] = false
  })
  t.equal(none.files['mcp.json'], undefined)
  const wrong: [change: object, message: RegExp][] = [
    [{ 'x-mcp': 'yes' }, /x-mcp: must be true, false, or an object with name, title, description, annotations/],
    [{ operationId: 'add pet' }, /the name of a tool/],
    [{ 'x-mcp': { name: 'add pet' } }, /the name of a tool/],
    [{ 'x-mcp': { name: 'removePet' } }, /the tool removePet has the name of the operation addPet/],
    [{ 'x-mcp': { label: 'a' } }, /x-mcp\/label: is none of name, title, description, annotations/],
    [{ 'x-mcp': { toString: 'a' } }, /x-mcp\/toString: is none of name/],
    [{ 'x-mcp': { title: 1 } }, /x-mcp\/title: must be a text/],
    [{ 'x-mcp': { annotations: { readOnlyHint: 'yes' } } }, /x-mcp\/annotations: must have only readOnlyHint/],
    [{ 'x-mcp': { annotations: { readOnly: true } } }, /x-mcp\/annotations: must have only readOnlyHint/],
    [{ requestBody: { required: true, content: { 'text/plain': { schema: text } } } }, /can send only JSON/],
    [{ parameters: [{ name: 'a', in: 'cookie', required: true, schema: text }] }, /cannot send cookies/],
    [{ responses: { 200: { description: 'A.', content: { 'image/png': {} } } } }, /the result of a tool/],
  ]
  for (const [change, problem] of wrong)
    await t.rejects(
      compile(({ paths }) => Object.assign(paths?.['/pets']?.post as object, change)),
      { message: problem },
    )
})

t.test('a call reaches the operation that its arguments select', async (t) => {
  const item = (operationId: string, path: string[]) => {
    const [name, value] = path
    const parameters = [{ name, in: 'header', required: true, schema: { type: 'string', enum: [value] } }]
    const responses = { 200: { description: 'Its id.', content: { 'text/plain': {} } } }
    return { post: { operationId, 'x-mcp': true, parameters, responses } }
  }
  const paths = { '/#X=a': item('first', ['X', 'a']), '/#X=b': item('second', ['X', 'b']) }
  const selected = await compileDocument({ ...document, security: [], paths } as unknown as Document, 'a.yaml')
  const answering = (id: string) => async () => ({ status: 200, body: id })
  const app = createServer<never>({
    contract: { routes: selected.routes },
    handlers: { first: answering('first'), second: answering('second') } as never,
    verifiers: {},
    limits: testLimits,
    errorBody: (({ message }: Error) => ({ contentType: 'text/plain', body: message })) as never,
  })
  app.register(mcpServer, { table: JSON.parse(selected.files['mcp.json'] as string) })
  t.teardown(() => app.close())
  const call = await connect(t, `${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`)
  t.match(await call('second', { header: { X: 'b' } }), { text: 'second' })
  t.match(await call('first', { header: { X: 'a' } }), { text: 'first' })
})
