#!/usr/bin/env bash
# Fastify reports a failed close although everything was closed: close() rejects with "Plugin did not start in time" if a
# preClose hook took longer than pluginTimeout (10 s by default), such as one that waits for the last requests.
#
# Version: fastify 5.12.8.
# Rule: the documentation of hooks says that preClose runs before the server closes, and the option pluginTimeout is
# described as the time in which a plugin may load.
# Expected: no error, or an error and an end after 500 ms. Seen: close() waits 2 s, the request is answered and all hooks
# run, and then it rejects with AVV_ERR_READY_TIMEOUT.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund fastify@5.12.8
cat >close.js <<'JS'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'

const app = Fastify({ pluginTimeout: 500 })
app.addHook('preClose', async () => {
  await sleep(2_000)
  console.log('preClose ends')
})
app.addHook('onClose', async () => console.log('onClose'))
app.get('/', async () => {
  await sleep(1_500)
  console.log('request ends')
  return 'done'
})
await app.listen({ host: '127.0.0.1', port: 0 })
const answer = fetch(`http://127.0.0.1:${app.server.address().port}/`).then((response) => response.text())
await sleep(100)
await app.close().catch((error) => console.log('close rejects', error.code))
console.log('response', await answer)
await sleep(1_000)
JS
node close.js | tee output
diff output - <<'SEEN'
request ends
preClose ends
onClose
close rejects AVV_ERR_READY_TIMEOUT
response done
SEEN
