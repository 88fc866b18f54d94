import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import type { ContractError } from '../../src/contract/errors.ts'
import { requestContext } from '../../src/http/request-context.ts'
import { type McpOptions, mcpServer } from '../../src/mcp/mcp-server.ts'
import { createServer } from '../../src/routes/create-server.ts'
import { testLimits } from '../support/serve-document.ts'

const text = { type: 'string' }
const header = (name: string, schema: object = text) => ({ name, in: 'header', schema })
const query = (name: string, schema: object, more: object = {}) => ({ name, in: 'query', schema, ...more })

const document = {
  openapi: '3.1.0',
  info: { title: 'Open', version: '1.0.0' },
  security: [],
  paths: {
    '/items/{id}/{part}': {
      post: {
        operationId: 'setItem',
        'x-mcp': true,
        parameters: [
          { name: 'id', in: 'path', required: true, schema: text },
          { name: 'part', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } },
          query('limit', { type: 'integer' }),
          query(
            'flags',
            { type: 'object', properties: { on: { type: 'boolean' } }, additionalProperties: false },
            { style: 'deepObject' },
          ),
          header('X-By'),
          header('X-Request-Id'),
          header('X-Forwarded-For'),
          header('Client-Cert'),
          header('Transfer-Encoding'),
          header('X-Key'),
        ],
        requestBody: { content: { 'application/vnd.item+json': { schema: {} } } },
        responses: { 200: { description: 'What arrived.', content: { 'application/json': { schema: {} } } } },
      },
    },
  },
} as unknown as Document

const compiled = await compileDocument(document, 'open.yaml')
const table = JSON.parse(compiled.files['mcp.json'] as string)

/** Serves the document with its tool; returns the server, and the requests that the handler received. */
function serve(t: Test, options: Partial<McpOptions> & { trustProxy?: string[] } = {}) {
  const received: Record<string, unknown>[] = []
  const { trustProxy, ...others } = options
  const app = createServer<never>({
    contract: { routes: compiled.routes },
    handlers: {
      async setItem(input: object, request: { raw: { headers: object; url: string }; ip: unknown }) {
        const { address } = requestContext(request as never)
        received.push({ ...input, headers: request.raw.headers, url: request.raw.url, ip: request.ip, address })
        return { status: 200, body: {} }
      },
    } as never,
    verifiers: {},
    errorBody: (({ message }: ContractError) => ({ contentType: 'application/json', body: { message } })) as never,
    limits: testLimits,
    ...(trustProxy && { trustProxy }),
  })
  app.register(mcpServer, { table, ...others })
  t.teardown(() => app.close())
  return { app, received }
}

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

type Served = ReturnType<typeof serve>

/** Sends a message, which is a value or a JSON text. */
async function post({ app }: Served, message: unknown, more: object = {}) {
  const payload = typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message)
  const response = await app.inject({ method: 'POST', url: '/mcp', headers: { ...headers, ...more }, payload })
  return { status: response.statusCode, body: response.payload === '' ? undefined : response.json() }
}

const callText = (args: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"setItem","arguments":${args}}}`

const valid = { path: { id: 'a', part: '7' } }

t.test('arguments that the tool does not describe, or that are wrong, are errors that name the place', async (t) => {
  const served = serve(t, { credentials: ['authorization', 'x-key'] })
  const path = valid.path
  const wrong: [args: object, text: RegExp][] = [
    [{}, /^path must have required property 'id'/],
    [{ path: { id: 'a' } }, /^path must have required property 'part'/],
    [{ path: { id: 'a', part: 'x' } }, /^path\/part must be an int64/],
    [{ path: { id: 'a', part: 7 } }, /^path\/part: must be a string of digits/],
    [{ path: { id: 7, part: '7' } }, /^path\/id must be string/],
    [{ path: { id: '.', part: '7' } }, /a path segment cannot be/],
    [{ path: { id: '..', part: '7' } }, /a path segment cannot be/],
    [{ path: { ...path, more: 'a' } }, /^path\/more: is not an argument/],
    [{ path: [] }, /^path: must be an object/],
    [{ path: null }, /^path: must be an object/],
    [{ path, query: 'limit=1' }, /^query: must be an object/],
    [{ path, query: { limit: 1e17 } }, /^query\/limit must be an integer from/],
    [{ path, query: { limit: '5' } }, /^query\/limit must be integer/],
    [{ path, query: { admin: 'true' } }, /^query\/admin: is not an argument/],
    [{ path, query: { flags: { on: 'true' } } }, /^query\/flags\/on must be boolean/],
    [{ path, query: { flags: { off: true } } }, /^query\/flags/],
    [{ path, header: { 'x-by': 'a' } }, /^header\/x-by: is not an argument/],
    [{ path, header: { 'X-By': 1 } }, /^header\/X-By must be string/],
    [{ path, header: { 'X-By': 'a\r\nHost: b' } }, /^header\/X-By: has a character/],
    [{ path, header: { 'X-By': 'a\u0001' } }, /^header\/X-By: has a character/],
    [{ path, header: { 'X-By': '\u{1f600}' } }, /^header\/X-By: has a character/],
    [{ path, header: { 'X-By\r\nHost': 'a' } }, /^header\/X-By\r\nHost: is not an argument/],
    [{ path, header: { 'X-By': 'a'.repeat(20_000) } }, /^the parameters have more than 16384 bytes/],
    [{ path, header: { 'X-Key': 'a' } }, /^header\/X-Key: is a header that no tool sets/],
    [{ path, cookie: { sid: 'a' } }, /^cookie: is not an argument/],
    [{ path, ['a'.repeat(500)]: 1 }, /^a{100}…: is not an argument/],
  ]
  const refused =
    'Host Cookie Authorization Client-Cert X-Forwarded-For X-Forwarded-Host Forwarded Connection Keep-Alive'
  const others = 'TE Trailer Transfer-Encoding Upgrade Content-Length Content-Type Expect Proxy-Authorization X-Real-IP'
  for (const name of `${refused} ${others}`.split(' ')) {
    wrong.push([{ path, header: { [name]: 'a' } }, new RegExp(`^header/${name}: is not an argument`)])
    wrong.push([{ path, header: { [name.toLowerCase()]: 'a' } }, /: is not an argument/])
  }
  for (const [args, message] of wrong) {
    const { status, body } = await post(served, callText(JSON.stringify(args)))
    t.same([status, body?.result?.isError], [200, true], JSON.stringify(args).slice(0, 80))
    t.match(body?.result?.content?.[0]?.text, message)
  }
  t.same(served.received, [])
})

t.test('a message that is not strict JSON, or not JSON-RPC, reaches no handler', async (t) => {
  const served = serve(t)
  const path = '"path":{"id":"a","part":"7"}'
  const wrong: [message: string | Buffer, code: number, id?: number][] = [
    [callText(`{${path},"path":{"id":"b","part":"7"}}`), -32_700],
    [callText(`{"path":{"id":"a","part":"7","id":"b"}}`), -32_700],
    [callText(`{${path},"body":{"a":1,"\\u0061":2}}`), -32_700],
    [callText(`{${path},"body":"\\ud800"}`), -32_700],
    [callText(`{${path},"body":"\\u0000"}`), -32_700],
    [`{"id":2,${callText('{}').slice(1)}`, -32_700],
    [Buffer.concat([Buffer.from(callText('{}').slice(0, -4)), Buffer.from([0xff, 0x22])]), -32_700],
    [callText(`{${path},"body":${'['.repeat(200)}${']'.repeat(200)}}`), -32_700],
    ['{', -32_700],
    ['"a"', -32_600],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32_600, 1],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32_600],
    ['{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}', -32_600],
    ['{"jsonrpc":"2.0","id":1,"method":1}', -32_600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32_600, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","more":1}', -32_600, 1],
  ]
  for (const [message, code, id = null] of wrong) {
    const { status, body } = await post(served, message)
    t.match({ status, body }, { status: 400, body: { jsonrpc: '2.0', id, error: { code } } }, String(message))
  }
  const invalid: [message: object, code: number][] = [
    [{ method: 'tools/call', params: {} }, -32_602],
    [{ method: 'tools/call', params: { name: 'setItem', arguments: [] } }, -32_602],
    [{ method: 'tools/call', params: { name: 'a'.repeat(1000) } }, -32_602],
    [{ method: 'resources/list' }, -32_601],
    [{ method: 'toString' }, -32_601],
    [{ method: '__proto__' }, -32_601],
  ]
  for (const [message, code] of invalid) {
    const { status, body } = await post(served, { jsonrpc: '2.0', id: 'x', ...message })
    t.match({ status, body }, { status: 200, body: { jsonrpc: '2.0', id: 'x', error: { code } } })
  }
  const { body } = await post(served, callText(`{${path},"body":{"a":[{"__proto__":{"admin":true}}]}}`))
  t.match(body.result, { isError: true, content: [{ text: /^body\/a\/0\/__proto__: is not allowed/ }] })
  t.same(served.received, [])
})

t.test('the messages of the protocol that need no operation', async (t) => {
  const served = serve(t)
  const send = (message: object, more?: object) => post(served, { jsonrpc: '2.0', ...message }, more)
  t.same(await send({ method: 'notifications/initialized' }), { status: 202, body: undefined })
  t.same(await send({ id: 1, result: {} }), { status: 202, body: undefined })
  t.same(await send({ id: 1, error: { code: 1, message: 'a' } }), { status: 202, body: undefined })
  t.equal((await send({ id: 1 })).status, 400)
  const noArguments = await send({ id: 1, method: 'tools/call', params: { name: 'setItem' } })
  t.match(noArguments.body.result, { isError: true, content: [{ text: /^path must have required property/ }] })
  t.match(await send({ id: 0, method: 'ping' }), { status: 200, body: { id: 0, result: {} } })
  for (const [asked, agreed] of [
    ['2025-06-18', '2025-06-18'],
    ['1999-01-01', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
  ]) {
    const clientInfo = { name: 'test', version: '1.0.0' }
    const params = { protocolVersion: asked, capabilities: {}, clientInfo }
    const { body } = await send({ id: 1, method: 'initialize', params })
    t.equal(body.result.protocolVersion, agreed)
  }
  const old = { 'mcp-protocol-version': '1999-01-01' }
  t.match(await send({ id: 1, method: 'ping' }, old), { status: 400, body: { error: { message: /2025-11-25/ } } })
  t.equal((await send({ id: 1, method: 'ping' }, { 'content-type': 'application/json-patch+json' })).status, 415)
  t.equal((await send({ id: 1, method: 'ping' }, { accept: 'application/json' })).status, 406)
})

t.test('a call passes on its arguments with every digit, and what the endpoint itself sends', async (t) => {
  const served = serve(t)
  const body = '{"a":-9007199254740991,"b":[9007199254740992],"c":1.5,"d":1e30}'
  const given = `{"path":{"id":"a/{part}","part":"-9007199254740993"},"query":{"limit":9007199254740991},"header":{"X-By":"me","X-Request-Id":"mine"},"body":${body}}`
  const { body: answer } = await post(served, callText(given), { cookie: 'sid=a', 'x-forwarded-for': '1.2.3.4' })
  t.equal(answer.result.isError, false, JSON.stringify(answer))
  const [call] = served.received
  t.match(call, {
    url: '/items/a%2F%7Bpart%7D/-9007199254740993?limit=9007199254740991',
    path: { id: 'a/{part}', part: -9007199254740993n },
    header: { 'X-By': 'me', 'X-Request-Id': 'mine' },
    headers: { 'content-type': 'application/vnd.item+json', 'x-by': 'me' },
  })
  t.same(Object.keys(call?.headers as object).sort(), [
    'content-length',
    'content-type',
    'host',
    'user-agent',
    'x-by',
    'x-request-id',
  ])
  const { body: large } = await post(served, callText('{"path":{"id":"a","part":"7"},"body":1e400}'))
  t.match(large.result, { isError: true, content: [{ text: /^body: is beyond the numbers/ }] })
  for (const number of [
    '1e400',
    '-1e400',
    '123456789012345678901234567890',
    '100000000000000000000001',
    '12345678901234567890',
    '9007199254740993',
  ])
    for (const place of ['{"a":N}', '[1,N]', '{"b":[{"c":N}]}']) {
      const before = served.received.length
      const { body: refused } = await post(
        served,
        callText(`{"path":{"id":"a","part":"7"},"body":${place.replace('N', number)}}`),
      )
      t.match(
        refused.result,
        { isError: true, content: [{ text: /^(HTTP 400 .*)?body\/[^ ]+ (is beyond the|must be a) number/ }] },
        number,
      )
      t.equal(served.received.length, before, 'no handler is called')
    }
})

t.test('a tool offers no parameter that sets a header of the connection or a proxy', async (t) => {
  const [tool] = table.tools
  t.same(Object.keys(tool.inputSchema.properties.header.properties), ['X-By', 'X-Request-Id', 'X-Key'])
  const required = structuredClone(document) as unknown as {
    paths: Record<string, { post: { parameters: { name: string; required?: boolean }[] } }>
    components?: object
  }
  const parameters = required.paths['/items/{id}/{part}']?.post.parameters ?? []
  Object.assign(parameters.find(({ name }) => name === 'Client-Cert') as object, { required: true })
  await t.rejects(compileDocument(required as never, 'open.yaml'), {
    message: /a tool cannot send the header Client-Cert/,
  })
  const keyed = {
    ...document,
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-key' } } },
  } as unknown as Document
  const { files } = await compileDocument(keyed, 'open.yaml')
  const { tools } = JSON.parse(files['mcp.json'] as string)
  t.same(Object.keys(tools[0].inputSchema.properties.header.properties), ['X-By', 'X-Request-Id'])
})

t.test('a plugin on an app without operations says so', async (t) => {
  const { app } = serve(t)
  const other = createServer<never>({
    contract: { routes: { ...compiled.routes, operations: [] } },
    handlers: {} as never,
    verifiers: {},
    errorBody: (() => ({})) as never,
  })
  t.teardown(() => other.close())
  other.register(mcpServer, { table })
  await t.rejects(Promise.resolve(other.ready()), { message: /the server has no operation setItem/ })
  await app.ready()
  await t.rejects(mcpServer({ initialConfig: {} } as never, { table }), { message: /needs an app of createServer/ })
})

t.test('a call over a Unix socket has no address, as any request there', async (t) => {
  const served = serve(t, { trustProxy: ['127.0.0.1'] })
  // The path of a Unix socket has at most 107 bytes.
  const directory = await mkdtemp(join(tmpdir(), 'mcp-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const path = join(directory, 's')
  await served.app.listen({ path })
  const send = (target: string, more: string, body: string) =>
    new Promise<string>((resolve) => {
      let received = ''
      connect(path)
        .on('data', (chunk) => {
          received += chunk
        })
        .on('close', () => resolve(received))
        .end(
          `POST ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Forwarded-For: 9.9.9.9\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`,
        )
    })
  const type = `Content-Type: application/json\r\nAccept: ${headers.accept}\r\n`
  t.match(await send('/mcp', type, callText(JSON.stringify(valid))), /^HTTP\/1.1 200 /)
  t.match(await send('/items/a/7', 'Content-Type: application/vnd.item+json\r\n', '{}'), /^HTTP\/1.1 200 /)
  t.same(
    served.received.map(({ ip, address }) => ({ ip, address })),
    [
      { ip: undefined, address: undefined },
      { ip: undefined, address: undefined },
    ],
  )
})
