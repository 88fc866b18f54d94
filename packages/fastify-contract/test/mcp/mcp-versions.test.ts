import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { FastifyInstance } from 'fastify'
import type { Document } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import { type McpTable, mcpServer } from '../../src/mcp/mcp-server.ts'
import { createMultiServer } from '../../src/routes/create-multi-server.ts'
import { testLimits } from '../support/serve-document.ts'
import { toolsApi, toolsDocument } from '../support/serve-tools.ts'

const wellKnown = '/.well-known/oauth-protected-resource'

/** Serves two versions of the tools: the server of the first document has the prefix as its path. */
async function serveVersions(t: Test) {
  const servers = [{ url: 'https://trees.example/v1' }]
  const [first, second] = await Promise.all([toolsApi({ ...toolsDocument, servers } as Document), toolsApi()])
  const withTools = ({ api, table }: { api: object; table: McpTable }) => ({
    ...api,
    plugins: (instance: FastifyInstance) => void instance.register(mcpServer, { table }),
  })
  const app = createMultiServer<{ '/v1': never; '/v2': never }>({
    contracts: { '/v1': withTools(first), '/v2': withTools(second) } as never,
    errors: '/v2',
    limits: testLimits,
  })
  t.teardown(() => app.close())
  return { app, origin: await app.listen({ host: '127.0.0.1', port: 0 }), seen: [first.seen, second.seen] as const }
}

t.test('each document has an endpoint of tools below its prefix, which calls its own operations', async (t) => {
  const { origin, seen } = await serveVersions(t)
  for (const [index, prefix] of ['/v1', '/v2'].entries()) {
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}${prefix}/mcp`)))
    t.teardown(() => client.close())
    t.match(await client.callTool({ name: 'notes', arguments: {} }), { content: [{ text: 'none' }] })
    const { authorization } = { authorization: 'Bearer a-token-of-the-tests-0123456789-abcdef' }
    const response = await fetch(`${origin}${prefix}/mcp`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'find_tree', arguments: { path: { id: '7' } } },
      }),
    })
    t.match(await response.json(), { result: { structuredContent: { id: '7' } } })
    t.same(seen[index]?.calls, [{ id: 7n }])
  }
  t.equal((await fetch(`${origin}/mcp`, { method: 'POST' })).status, 404)
})

t.test('the metadata of each endpoint is where RFC 9728 says, and names the endpoint with its prefix', async (t) => {
  const { app, origin } = await serveVersions(t)
  for (const prefix of ['/v1', '/v2']) {
    const metadata = await app.inject(`${wellKnown}${prefix}/mcp`)
    t.match(metadata, { statusCode: 200, headers: { 'access-control-allow-origin': '*' } })
    t.match(metadata.json(), { resource: `https://trees.example${prefix}/mcp` })
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'find_tree', arguments: { path: { id: '1' } } },
    }
    const { status, headers } = await fetch(`${origin}${prefix}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(call),
    })
    t.equal(status, 401)
    t.match(headers.get('www-authenticate'), `resource_metadata="https://trees.example${wellKnown}${prefix}/mcp"`)
  }
  for (const path of [wellKnown, `/v1${wellKnown}/mcp`]) t.equal((await app.inject(path)).statusCode, 404, path)
})

t.test('tools that are not registered for a document stop the start with a line that says where', async (t) => {
  const { api, table } = await toolsApi()
  const app = createMultiServer<{ '/v1': never }>({ contracts: { '/v1': api }, errors: '/v1' } as never)
  app.register(mcpServer, { table })
  await t.rejects(async () => await app.ready(), {
    message: /^this plugin needs an app of createServer.* option plugins of one of the/,
  })
})
