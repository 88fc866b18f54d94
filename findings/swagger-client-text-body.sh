#!/usr/bin/env bash
# swagger-client reads text responses as YAML: a text becomes a number, a date or a list, and CSV loses its line breaks.
#
# Version: swagger-client 3.38.4.
# Rule: RFC 2046, section 4.1.3 (text/plain is a sequence of characters and line breaks) and RFC 4180, section 2 (each
# record of CSV ends with a line break). The document describes each body as `type: string`.
# Expected: `body` is the text. Seen: 12e3 becomes the number 12000, [draft] a list, a date a Date object, and two records of
# CSV become one line. Only `text` and `data` of the response have the text; a text that is not YAML has no `body`.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund swagger-client@3.38.4
cat >texts.js <<'JS'
import { createServer } from 'node:http'
import Swagger from 'swagger-client'

const texts = [
  ['text/plain', '12e3'],
  ['text/plain', '[draft]'],
  ['text/plain', '2026-01-02'],
  ['text/plain', 'note: sold'],
  ['text/plain', 'a: b: c'],
  ['text/csv', 'name,height\nfern,3\n'],
]
let next
const server = createServer((_, response) => response.setHeader('content-type', next[0]).end(next[1]))
await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
const text = { schema: { type: 'string' } }
const responses = { 200: { description: 'A text.', content: { 'text/plain': text, 'text/csv': text } } }
const client = await Swagger({
  spec: {
    openapi: '3.0.3',
    info: { title: 'Texts', version: '1' },
    servers: [{ url: `http://127.0.0.1:${server.address().port}` }],
    paths: { '/text': { get: { operationId: 'getText', responses } } },
  },
})
for (next of texts) {
  const { body } = await client.execute({ operationId: 'getText' })
  const kind = body instanceof Date ? 'Date' : typeof body
  console.log(`${next[0]} ${JSON.stringify(next[1])}: ${kind} ${JSON.stringify(body)}`)
}
server.closeAllConnections()
server.close()
JS
node texts.js | tee output
diff output - <<'SEEN'
text/plain "12e3": number 12000
text/plain "[draft]": object ["draft"]
text/plain "2026-01-02": Date "2026-01-02T00:00:00.000Z"
text/plain "note: sold": object {"note":"sold"}
text/plain "a: b: c": undefined undefined
text/csv "name,height\nfern,3\n": string "name,height fern,3"
SEEN
