#!/usr/bin/env bash
# axios quotes a text body whose media type only begins with `application/json`, so a list of JSON lines becomes one string.
#
# Version: axios 1.21.1.
# Rules: RFC 7464, section 4 (application/json-seq) and jsonlines.org (application/jsonl): a body is several JSON texts.
# RFC 6838, section 4.2: a type is the whole name, of which the beginning says nothing.
# Expected: the text is sent as it is, as with application/x-ndjson. Seen: with application/jsonl and application/json-seq,
# the text is one JSON string with \n for each line break. One line alone is sent as it is, because it is JSON, so a test
# with one record does not find it.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund axios@1.21.1
cat >lines.js <<'JS'
import { createServer } from 'node:http'
import axios from 'axios'

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  console.log(`${request.headers['content-type']}: ${JSON.stringify(body)}`)
  response.end()
})
await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
const url = `http://127.0.0.1:${server.address().port}`
const send = (type, text) => axios.post(url, text, { headers: { 'content-type': type } })
await send('application/x-ndjson', '{"id":1}\n{"id":2}\n')
await send('application/jsonl', '{"id":1}\n{"id":2}\n')
await send('application/jsonl', '{"id":1}\n')
await send('application/json-seq', '\x1e{"id":1}\n')
server.closeAllConnections()
server.close()
JS
node lines.js | tee output
diff output - <<'SEEN'
application/x-ndjson: "{\"id\":1}\n{\"id\":2}\n"
application/jsonl: "\"{\\\"id\\\":1}\\n{\\\"id\\\":2}\\n\""
application/jsonl: "{\"id\":1}"
application/json-seq: "\"\\u001e{\\\"id\\\":1}\\n\""
SEEN
