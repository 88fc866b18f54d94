import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import type { ContractError } from '../../src/contract/errors.ts'
import type { Limits, ShedReason } from '../../src/limits/limits.ts'
import { type McpOptions, mcpServer } from '../../src/mcp/mcp-server.ts'
import { createServer } from '../../src/routes/create-server.ts'
import { testLimits } from '../support/serve-document.ts'

const document = {
  openapi: '3.1.0',
  info: { title: 'Open', version: '1.0.0' },
  security: [],
  paths: {
    '/echo': {
      post: {
        operationId: 'echo',
        'x-mcp': true,
        requestBody: { required: true, content: { 'application/json': { schema: {} } } },
        responses: { 200: { description: 'The same.', content: { 'application/json': { schema: {} } } } },
      },
    },
  },
} as unknown as Document

const compiled = await compileDocument(document, 'open.yaml')
const table = JSON.parse(compiled.files['mcp.json'] as string)

async function serve(t: Test, options: Partial<McpOptions> = {}, limits: Partial<Limits> = {}) {
  const shed: ShedReason[] = []
  const app = createServer<never>({
    contract: { routes: compiled.routes },
    handlers: { echo: async ({ body }: { body: unknown }) => ({ status: 200, body }) } as never,
    verifiers: {},
    errorBody: (({ message }: ContractError) => ({ contentType: 'application/json', body: { message } })) as never,
    limits: { ...testLimits, ...limits },
    shed: (reason) => shed.push(reason),
  })
  app.register(mcpServer, { table, ...options })
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url: `${url}/mcp`, port: Number(new URL(url).port), shed }
}

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

const post = (url: string, method: string, params: object = {}, more: object = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { ...headers, ...more },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })

const head = (more: string) =>
  `POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAccept: ${headers.accept}\r\n${more}\r\n\r\n`

/** Sends bytes; resolves with what was received when `pattern` matches it, or the connection closed. */
function exchange(port: number, bytes: string, pattern: RegExp, sockets: Socket[] = []): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    sockets.push(socket)
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        received += chunk
        if (!pattern.test(received)) return
        resolve(received)
        socket.destroy()
      })
      .on('close', () => resolve(received))
  })
}

t.test('messages without credentials are limited by address, before their body is read', async (t) => {
  const { url, port } = await serve(t, { messages: 3 })
  for (let i = 0; i < 3; i++) t.equal((await post(url, 'tools/list')).status, 200)
  const limited = await post(url, 'tools/list')
  t.equal(limited.status, 429)
  t.match(limited.headers.get('retry-after'), /^\d+$/)
  t.match(await exchange(port, head('Content-Length: 1000'), /^HTTP\/1.1 429 /), /^HTTP\/1.1 429 /)
})

t.test('messages with credentials are limited by address unless they call an operation', async (t) => {
  const { url } = await serve(t, { messages: 2 })
  const authorization = 'Bearer anything'
  const call = () => post(url, 'tools/call', { name: 'echo', arguments: { body: 1 } }, { authorization })
  for (let i = 0; i < 2; i++) t.equal((await post(url, 'tools/list', {}, { authorization })).status, 200)
  t.equal((await post(url, 'tools/list', {}, { authorization })).status, 429)
  const wrong = await post(url, 'tools/call', { name: 'echo', arguments: { bodies: 1 } }, { authorization })
  t.equal(wrong.status, 429)
  for (let i = 0; i < 3; i++) t.equal((await call()).status, 200)
})

t.test('a limit of 0 messages is none', async (t) => {
  const { url } = await serve(t, { messages: 0 })
  for (let i = 0; i < 400; i++) {
    const { status } = await post(url, 'ping')
    if (status !== 200) t.fail(`message ${i} got ${status}`)
  }
})

t.test('unfinished messages share the memory budget of all bodies', async (t) => {
  const { port, shed } = await serve(t, { messages: 0 }, { bodyMemory: 1_048_576, body: 262_144 })
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  const unfinished = head('Content-Length: 262000') + 'a'.repeat(261_000)
  const count = 40
  const answers: string[] = []
  for (let i = 0; i < count; i++)
    void exchange(port, unfinished, /^HTTP\/1.1 503 /, sockets).then((answer) => answers.push(answer))
  // Of the messages, 4 fit into the budget; the first that arrives is never rejected.
  while (answers.length < count - 5) await sleep(20)
  t.ok(answers.every((answer) => /^HTTP\/1.1 503 /.test(answer)))
  t.ok(shed.length >= count - 5 && shed.every((reason) => reason === 'body_memory'))
})

t.test('a large message is rejected by its announced or its real length, and its trailers are bounded', async (t) => {
  const { port } = await serve(t, { maxMessage: 1_000 }, { headers: 4_096, body: 500 })
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { a: 'a'.repeat(600) } })
  t.match(await exchange(port, head('Content-Length: 1001'), /^HTTP\/1.1 413 /), /^HTTP\/1.1 413 /)
  const chunked = (text: string, trailers = '') =>
    `${head('Transfer-Encoding: chunked')}${text.length.toString(16)}\r\n${text}\r\n0\r\n${trailers}\r\n`
  t.match(await exchange(port, chunked('a'.repeat(1_001)), /^HTTP\/1.1 413 /), /^HTTP\/1.1 413 /)
  t.match(await exchange(port, chunked(message), /"result":\{\}/), /^HTTP\/1.1 200 /)
  const trailers = `X: ${'a'.repeat(8_000)}\r\n`
  t.match(await exchange(port, chunked(message, trailers), /^HTTP\/1.1 431 /), /^HTTP\/1.1 431 /)
})

t.test('a client that expects 100 Continue gets it', async (t) => {
  const { port } = await serve(t)
  const expecting = head('Expect: 100-continue\r\nContent-Length: 2')
  t.match(await exchange(port, expecting, /^HTTP\/1.1 100 /), /^HTTP\/1.1 100 Continue\r\n/)
})

t.test('an overloaded server rejects messages', async (t) => {
  const { url } = await serve(t, {}, { inFlight: 0 })
  t.equal((await post(url, 'tools/list')).status, 503)
})
