#!/usr/bin/env bash
# swagger-client splits each response header at its commas, so a date becomes two items and a quoted string breaks in two.
#
# Version: swagger-client 3.38.4.
# Rules: RFC 9110, section 5.6.7 (a date has a comma after the day), section 5.6.4 (a comma in a quoted string is data) and
# section 5.5 (a field that can contain a comma is to be parsed by its own grammar).
# Expected: Last-Modified is one text, and `"a, b", c` is one text or the items "a, b" and c. Seen: two items for the date and
# three for the quoted list, although the document describes both headers as `type: string`. A comma without a space
# splits no entity tag.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund swagger-client@3.38.4
cat >headers.js <<'JS'
import { createServer } from 'node:http'
import Swagger from 'swagger-client'

const sent = { 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT', 'x-names': '"a, b", c', etag: '"a,b"' }
const server = createServer((_, response) => response.writeHead(200, sent).end())
await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
const headers = { 'Last-Modified': { schema: { type: 'string' } }, 'X-Names': { schema: { type: 'string' } } }
const client = await Swagger({
  spec: {
    openapi: '3.0.3',
    info: { title: 'Headers', version: '1' },
    servers: [{ url: `http://127.0.0.1:${server.address().port}` }],
    paths: { '/': { get: { operationId: 'get', responses: { 200: { description: 'Nothing.', headers } } } } },
  },
})
const response = await client.execute({ operationId: 'get' })
for (const name of Object.keys(sent)) console.log(`${name}: ${JSON.stringify(response.headers[name])}`)
server.closeAllConnections()
server.close()
JS
node headers.js | tee output
diff output - <<'SEEN'
last-modified: ["Thu","01 Jan 2026 00:00:00 GMT"]
x-names: ["\"a","b\"","c"]
etag: "\"a,b\""
SEEN
