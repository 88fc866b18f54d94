import { readFile } from 'node:fs/promises'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import type { McpOptions } from '../../src/mcp/mcp-server.ts'
import { ownPath } from '../support/own-path.ts'
import { largeId, serveTools, token } from '../support/serve-tools.ts'

const revision = '2026-07-28'
const meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientCapabilities': {},
}

type Message = {
  method: string
  id?: string
  params?: Record<string, unknown>
  meta?: object
  headers?: Record<string, string>
}

/** Sends a message of revision 2026-07-28; returns the status and the body. */
async function send(url: string, { method, id = 'a', params = {}, meta: given = meta, headers = {} }: Message) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: given } }),
  })
  t.equal(response.headers.get('mcp-session-id'), null)
  t.match(response.headers.get('content-type'), 'application/json')
  return { status: response.status, body: (await response.json()) as Record<string, never> }
}

t.test('a message of revision 2026-07-28 is answered on its own, with what that revision adds', async (t) => {
  const { url } = await serveTools(t)
  const cacheHint = { ttlMs: 300_000, cacheScope: 'public' }
  const serverInfo = { 'io.modelcontextprotocol/serverInfo': { name: 'Trees', version: '1.0.0' } }
  const common = { resultType: 'complete', _meta: serverInfo }
  t.match(await send(url, { method: 'server/discover' }), {
    status: 200,
    body: { id: 'a', result: { ...common, ...cacheHint, supportedVersions: [revision], capabilities: { tools: {} } } },
  })
  const { body } = await send(url, { method: 'tools/list' })
  t.match(body.result, { ...common, ...cacheHint })
  t.same(await send(url, { method: 'tools/list' }), { status: 200, body }, 'the order is the same')
  const call = { name: 'find_tree', arguments: { path: { id: largeId } } }
  t.match(await send(url, { method: 'tools/call', params: call }), {
    status: 200,
    body: { result: { ...common, isError: false, structuredContent: { id: largeId } } },
  })
})

t.test('a message of revision 2026-07-28 with wrong metadata is an error of that revision', async (t) => {
  const { url, seen } = await serveTools(t)
  const version = 'io.modelcontextprotocol/protocolVersion'
  const wrong: [message: Message, status: number, error: object][] = [
    [{ method: 'tools/list', headers: { 'mcp-method': 'tools/call' } }, 400, { code: -32_020 }],
    [{ method: 'tools/list', headers: { 'mcp-method': '' } }, 400, { code: -32_020 }],
    [{ method: 'tools/list', headers: { 'mcp-protocol-version': '2025-11-25' } }, 400, { code: -32_020 }],
    [{ method: 'tools/call', params: { name: 'notes' }, headers: { 'mcp-name': 'wait' } }, 400, { code: -32_020 }],
    [{ method: 'tools/list', meta: { [version]: revision } }, 400, { code: -32_602 }],
    [{ method: 'tools/list', meta: {} }, 400, { code: -32_602 }],
    [
      {
        method: 'tools/list',
        meta: { ...meta, [version]: '2030-01-01' },
        headers: { 'mcp-protocol-version': '2030-01-01' },
      },
      400,
      { code: -32_022, data: { supported: [revision], requested: '2030-01-01' } },
    ],
    [{ method: 'resources/list' }, 404, { code: -32_601 }],
    [{ method: 'ping' }, 404, { code: -32_601 }],
    [{ method: 'toString' }, 404, { code: -32_601 }],
  ]
  for (const [message, status, error] of wrong)
    t.match(await send(url, message), { status, body: { jsonrpc: '2.0', error } }, JSON.stringify(message))
  t.same(seen.calls, [])
})

t.test('no client opens a stream of notifications', async (t) => {
  const { url } = await serveTools(t)
  const params = { notifications: { toolsListChanged: true } }
  t.match(await send(url, { method: 'subscriptions/listen', params }), { body: { error: { code: -32_603 } } })
})

t.test('a result cannot set the structured content by its text, nor by the id of its message', async (t) => {
  const { url } = await serveTools(t)
  const id = '"structuredContent":{}'
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'measure' } }),
  })
  t.match(await response.json(), { id, result: { structuredContent: { result: largeId } } })
})

t.test('each list of a revision is the same, whatever its id', async (t) => {
  const { url } = await serveTools(t)
  const legacy = { 'mcp-protocol-version': '2025-11-25', 'mcp-method': '' }
  for (const message of [{ method: 'tools/list' }, { method: 'tools/list', meta: {}, headers: legacy }]) {
    const first = await send(url, message)
    t.match(first.body, { result: { tools: { length: 7 } } })
    t.same(await send(url, message), first)
    const id = '"tools":[]'
    t.same(await send(url, { ...message, id }), { ...first, body: { ...first.body, id } })
  }
})

t.test('the plugin takes a generated table as TypeScript types a JSON module', async (t) => {
  const { table } = await serveTools(t)
  const options = {
    table: table as unknown as typeof import('./tools.json', { with: { type: 'json' }}),
  } satisfies McpOptions
  t.same(options.table, JSON.parse(await readFile(ownPath('test/mcp/tools.json'), 'utf8')))
})

t.test('without the SDK, the start ends with one line that names the package', async (t) => {
  const hook = `export const resolve = (name, context, next) => {
    if (name !== '@modelcontextprotocol/server') return next(name, context)
    throw Object.assign(new Error('missing'), { code: 'ERR_MODULE_NOT_FOUND' })
  }`
  const script = `
    import { register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}))
    const { loadSdk } = await import('./src/mcp/protocol.ts')
    await loadSdk().catch((error) => console.log(error.message))`
  const loader = '--import=fastify-contract-test-support/register-strip-types.js'
  const command = [process.execPath, loader, '--input-type=module', '--eval', script]
  const { stdout, stderr } = await spawnProcess(command, { cwd: ownPath('.') }).untilEnded()
  const remedy = 'run npm install @modelcontextprotocol/server'
  t.equal(stdout + stderr, `mcpServer: the package @modelcontextprotocol/server cannot be loaded; ${remedy}\n`)
})
