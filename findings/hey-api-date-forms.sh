#!/usr/bin/env bash
# A client of hey-api sends a Date in JSON quotes in a URL-encoded form and in a header, but without them in multipart.
#
# Versions: @hey-api/openapi-ts 0.99.0 with its transformers for dates, on Node 24.21.0; typescript 5.9.3, esbuild 0.28.1.
# Rules: OpenAPI 3.1.1, section 4.8.15.1.1: a string in a form is not JSON. Section 4.8.12.2.2: a header has the style
# simple. The format date-time is that of RFC 3339, section 5.6, and has no quotes.
# Expected: 2026-03-04T05:06:07.000Z in each request. Seen: %222026-03-04T05%3A06%3A07.000Z%22 in the form and
# "2026-03-04T05:06:07.000Z" in the header, which a server that validates the format rejects. The types ask for a Date.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund \
  @hey-api/openapi-ts@0.99.0 node@24.21.0 typescript@5.9.3 @types/node@24.10.1 esbuild@0.28.1
cat >api.yaml <<'YAML'
openapi: 3.1.1
info: { title: Seeds, version: '1' }
paths:
  /query:
    post:
      operationId: sendQuery
      parameters: [{ name: since, in: query, schema: { $ref: '#/components/schemas/Time' } }]
      responses: { '204': { description: Received } }
  /header:
    post:
      operationId: sendHeader
      parameters: [{ name: X-Since, in: header, schema: { $ref: '#/components/schemas/Time' } }]
      responses: { '204': { description: Received } }
  /form:
    post:
      operationId: sendForm
      requestBody: { content: { application/x-www-form-urlencoded: { schema: { $ref: '#/components/schemas/Seed' } } } }
      responses: { '204': { description: Received } }
  /parts:
    post:
      operationId: sendParts
      requestBody: { content: { multipart/form-data: { schema: { $ref: '#/components/schemas/Seed' } } } }
      responses: { '204': { description: Received } }
components:
  schemas:
    Time: { type: string, format: date-time }
    Seed: { type: object, properties: { since: { $ref: '#/components/schemas/Time' } } }
YAML
cat >openapi-ts.config.js <<'JS'
export default {
  input: 'api.yaml',
  output: 'client',
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk', { name: '@hey-api/transformers', dates: true }],
}
JS
npx node node_modules/@hey-api/openapi-ts/bin/run.js --silent
cat >send.ts <<'TS'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { client } from './client/client.gen'
import { sendForm, sendHeader, sendParts, sendQuery } from './client/sdk.gen'

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const part = body.split('\r\n').find((line) => line.startsWith('2026') || line.startsWith('"'))
  console.log(`${request.url} ${request.headers['x-since'] ?? part ?? body}`.trim())
  response.writeHead(204).end()
})
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
client.setConfig({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, throwOnError: true })
const since = new Date('2026-03-04T05:06:07Z')
await sendQuery({ query: { since } })
await sendHeader({ headers: { 'X-Since': since } })
await sendForm({ body: { since } })
await sendParts({ body: { since } })
server.closeAllConnections()
server.close()
TS
npx tsc --noEmit --strict --skipLibCheck --target esnext --module esnext --moduleResolution bundler --types node send.ts
npx esbuild send.ts --bundle --format=esm --platform=node --outfile=send.js --log-level=error
npx node send.js | tee output
diff output - <<'SEEN'
/query?since=2026-03-04T05:06:07.000Z
/header "2026-03-04T05:06:07.000Z"
/form since=%222026-03-04T05%3A06%3A07.000Z%22
/parts 2026-03-04T05:06:07.000Z
SEEN
