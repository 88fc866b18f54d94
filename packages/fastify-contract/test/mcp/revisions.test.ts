import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { largeId, serveTools, token } from '../support/serve-tools.ts'

const info = { name: 'test', version: '1.0.0' }
const authorization = `Bearer ${token}`

/** What a test needs of the clients of both SDKs. */
type AnyClient = {
  revision: string | undefined
  list(): Promise<{ tools: object[] }>
  call(name: string, args?: object, options?: { signal: AbortSignal }): Promise<object>
}

/** The response bodies that a client received, as they were sent. */
type Exchanges = string[]

function recorder(bodies: Exchanges) {
  return async function recordingFetch(url: string | URL, init?: object): Promise<Response> {
    const response = await fetch(url, init)
    bodies.push(await response.clone().text())
    return response
  }
}

const requestInit = { headers: { authorization } }

async function oldClient(t: Test, url: string, bodies: Exchanges): Promise<AnyClient> {
  const client = new OldClient(info)
  const transport = new OldTransport(new URL(url), { requestInit, fetch: recorder(bodies) as never })
  await client.connect(transport as never)
  t.teardown(() => client.close())
  return {
    revision: transport.protocolVersion,
    list: () => client.listTools(),
    call: (name, args = {}, options) => client.callTool({ name, arguments: args as never }, undefined, options),
  }
}

const newClient = (mode: 'legacy' | 'auto' | { pin: string }) =>
  async function connectNewClient(t: Test, url: string, bodies: Exchanges): Promise<AnyClient> {
    const client = new Client(info, { versionNegotiation: { mode } })
    const options = { requestInit, fetch: recorder(bodies) as never }
    await client.connect(new StreamableHTTPClientTransport(new URL(url), options))
    t.teardown(() => client.close())
    return {
      revision: client.getNegotiatedProtocolVersion(),
      list: () => client.listTools(),
      call: (name, args = {}, given) => client.callTool({ name, arguments: args as never }, given),
    }
  }

const clients: [title: string, connect: typeof oldClient, revision: string][] = [
  ['the client of 1.32', oldClient, '2025-11-25'],
  ['the client of 2.4 for 2025-11-25', newClient('legacy'), '2025-11-25'],
  ['the client of 2.4 for 2026-07-28', newClient({ pin: '2026-07-28' }), '2026-07-28'],
  ['the client of 2.4 that finds out', newClient('auto'), '2026-07-28'],
]

for (const [title, connect, revision] of clients) {
  const isOld = revision === '2025-11-25'

  t.test(`${title} lists and calls tools, and their results match the output schemas`, async (t) => {
    const { url, seen } = await serveTools(t)
    const bodies: Exchanges = []
    const { revision: agreed, list, call } = await connect(t, url, bodies)
    t.equal(agreed, revision)
    const { tools } = (await list()) as { tools: Record<string, unknown>[] }
    const byName = new Map(tools.map((tool) => [tool.name, tool]))
    t.same([...byName.keys()], ['find_tree', 'putTree', 'fellTree', 'listTrees', 'measure', 'notes', 'wait'])
    t.match(byName.get('find_tree'), {
      title: 'Find a tree',
      description: 'Finds a tree by its number.',
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    })
    t.match(byName.get('fellTree')?.annotations, { readOnlyHint: false, destructiveHint: true, idempotentHint: true })
    for (const name of ['fellTree', 'notes', 'wait']) t.equal(byName.get(name)?.outputSchema, undefined)
    const [found, listed] = ['find_tree', 'listTrees'].map((name) => byName.get(name)?.outputSchema as never)
    t.match(found, { type: 'object', $ref: /^#\/\$defs\/Tree/ })
    t.match(listed, isOld ? { type: 'object', properties: { result: { type: 'array' } } } : { type: 'array' })

    const wrapped = (value: unknown) => (isOld ? { result: value } : value)
    const tree = {
      id: largeId,
      age: 300,
      height: 1.5,
      girth: 1e300,
      planted: '2026-01-31',
      'x-any': '-9223372036854775808',
      branches: [{ id: '1', 'x-any': '7', branches: [] }],
    }
    t.match(await call('find_tree', { path: { id: largeId } }), { isError: false, structuredContent: tree })
    t.same(seen.calls, [{ id: BigInt(largeId) }])
    t.match(bodies.at(-1), `"structuredContent":{"id":"${largeId}","age":300,"height":1.5`, 'as sent')
    t.match(bodies.at(-1), `"text":"{\\"id\\":${largeId},\\"age\\":300`, 'as sent')
    t.match(await call('listTrees'), { structuredContent: wrapped([tree]) })
    t.match(await call('measure'), { structuredContent: wrapped(largeId) })
    const put = (id: string, more = {}) => call('putTree', { path: { id }, body: { id, branches: [], ...more } })
    for (const more of [{}, { rank: '1' }, { girth: largeId }, { girth: 0.5 }])
      t.match(await put('2', more), { structuredContent: { id: '2', branches: [], ...more } })
    t.match(await put('2', { girth: 1 }), { content: [{ text: /^body\/girth: must be a string/ }], isError: true })
    t.match(await put('0'), { structuredContent: { leaf: largeId } }, 'another status has another schema')
    t.match(await call('notes'), { content: [{ text: 'none' }], structuredContent: undefined, isError: false })
    t.match(await call('fellTree', { path: { id: '1' } }), { content: [{ text: 'HTTP 204' }], isError: false })
    t.match(await call('find_tree', { path: { id: '0' } }), {
      content: [{ text: 'HTTP 404 {"message":"there is no such tree"}' }],
      structuredContent: undefined,
      isError: true,
    })
    t.match(await call('find_tree', { path: { id: 'one' } }), { content: [{ text: /^path\/id/ }], isError: true })
    await t.rejects(call('getTree'), { code: -32_602, message: /Unknown tool: getTree/ })
  })

  t.test(`${title} gives up a call, and the endpoint goes on`, async (t) => {
    const { url, seen } = await serveTools(t)
    const { call } = await connect(t, url, [])
    const abort = new AbortController()
    const waiting = call('wait', {}, abort)
    waiting.catch(() => {})
    await until(() => seen.waiting.length === 1, 'the operation is called')
    abort.abort()
    await t.rejects(waiting)
    if (!isOld) await until(() => seen.waiting[0]?.destroyed === true, 'the request of the operation is closed')
    t.match(await call('notes'), { content: [{ text: 'none' }] })
  })
}
