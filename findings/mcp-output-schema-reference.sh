#!/usr/bin/env bash
# The class Server of the MCP SDK changes the listed output schema of a tool for clients of revision 2025-11-25, but not
# its results, if the schema is a reference to an object. The SDK's own client then rejects each valid result.
#
# Versions: @modelcontextprotocol/server and @modelcontextprotocol/client 2.4.0.
# Rule: revision 2025-11-25, section "Output Schema" of tools: results must conform to the schema that the server lists.
# Expected: both clients get the result. Seen: the client of 2026-07-28 does; for that of 2025-11-25, the list has an
# object with the member "result" around the schema, the result has no such member, and the call fails.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/client@2.4.0
cat >call.js <<'JS'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

const Tree = { type: 'object', required: ['height'], properties: { height: { type: 'number' } } }
const outputSchema = { $ref: '#/$defs/Tree', $defs: { Tree } }

const handler = createMcpHandler(() => {
  const server = new Server({ name: 'trees', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'find', inputSchema: { type: 'object' }, outputSchema }] }))
  server.setRequestHandler('tools/call', () => ({ content: [], structuredContent: { height: 2 } }))
  return server
})
const fetch = (url, init) => handler.fetch(new Request(url, init))

for (const [revision, mode] of [['2026-07-28', { pin: '2026-07-28' }], ['2025-11-25', 'legacy']]) {
  const client = new Client({ name: 'finding', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }))
  const { tools } = await client.listTools()
  const { structuredContent } = await client.callTool({ name: 'find' }).catch(({ message }) => ({ structuredContent: message }))
  console.log(revision, Object.keys(tools[0].outputSchema.properties ?? {}), structuredContent)
  await client.close()
}
JS
node call.js 2>&1 | tee output
diff output - <<'SEEN'
2026-07-28 [] { height: 2 }
2025-11-25 [ 'result' ] Structured content does not match the tool's output schema: data must have required property 'result'
SEEN
