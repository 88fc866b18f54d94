#!/usr/bin/env bash
# Caddy sends 100 Continue twice to a client that waits for it once, and before the response that rejects its body.
#
# Version: Caddy 2.11.9, built by Go; 2.6.2 of Debian 12 does the same.
# Rule: RFC 9110, section 10.1.1 (100 says that the server wants the body, so that a client need not send one that is
# rejected), and section 15.2 (a client must accept several).
# Expected: one 100, and none before a 401. Seen: two, of which one comes from the server behind Caddy, and the other one
# from Caddy when it reads the body; and one before a 401 for which the server behind it reads no body. A client that
# takes the second status line for the response misreads it. The proxy of net/http/httputil, which Caddy's is based on,
# sends one 100 with Go 1.26.8.
set -eu
directory=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$directory"' EXIT
cd "$directory"
GOBIN=$directory go install github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9
printf '{\n admin off\n auto_https off\n}\nhttp://:18080 {\n reverse_proxy 127.0.0.1:18081\n}\n' >Caddyfile
cat >sow.js <<'JS'
const { connect } = require('node:net')
const { createServer } = require('node:http')

const server = createServer()
server.on('checkContinue', (request, response) => {
  if (request.url === '/closed') {
    response.writeHead(401, { 'Content-Length': 0 }).end()
    return
  }
  response.writeContinue()
  request.resume().on('end', () => response.end('sown'))
})
server.listen(18081, '127.0.0.1')

async function statuses(path) {
  const head = `POST ${path} HTTP/1.1\r\nHost: seeds\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n`
  const socket = connect(18080, '127.0.0.1')
  socket.write(head)
  const timer = setTimeout(() => socket.write('seed'), 1_000)
  let text = ''
  socket.on('error', () => {}).on('data', (bytes) => (text += bytes))
  await new Promise((resolve) => socket.on('close', resolve))
  clearTimeout(timer)
  return Array.from(text.matchAll(/^HTTP\/1\.1 (\d+)/gm), ([, status]) => status).join(', ')
}

const isUp = () => new Promise((resolve) => {
  const socket = connect(18080, '127.0.0.1', () => resolve(socket.end() !== undefined))
  socket.on('error', () => resolve(false))
})

async function main() {
  while (!(await isUp())) await new Promise((resolve) => setTimeout(resolve, 100))
  for (const path of ['/open', '/closed']) console.log(`${path}: ${await statuses(path)}`)
  process.exit()
}
main()
JS
./caddy run --config Caddyfile --adapter caddyfile 2>log &
node sow.js | tee output
diff output - <<'SEEN'
/open: 100, 100, 200
/closed: 100, 401
SEEN
