#!/usr/bin/env bash
# Fastify's automatic HEAD route adds Content-Length: 0 to a 304 without a body.
#
# Version: fastify 5.12.8.
# Rule: RFC 9110, section 8.6 (a Content-Length in a 304 is the length that a 200 to the same request would have had).
# Expected: the same headers as the 304 to GET, which has no Content-Length. Seen: content-length 0 for HEAD only, so a
# cache that updates what it has stored (RFC 9111, section 4.3.5) sees a representation of another length.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund fastify@5.12.8
cat >compare.js <<'JS'
import { request } from 'node:http'
import fastify from 'fastify'

const app = fastify()
app.get('/seed', (_request, reply) => reply.code(304).header('etag', '"1"').send())
await app.listen({ port: 0, host: '127.0.0.1' })
for (const method of ['GET', 'HEAD']) {
  const headers = await new Promise((resolve, reject) => {
    const options = { port: app.server.address().port, path: '/seed', method }
    request(options, (response) => resolve(response.resume().headers)).on('error', reject).end()
  })
  console.log(`${method}: content-length ${headers['content-length'] ?? 'absent'}`)
}
await app.close()
JS
node compare.js | tee output
diff output - <<'SEEN'
GET: content-length absent
HEAD: content-length 0
SEEN
