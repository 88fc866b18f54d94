import { setTimeout as sleep } from 'node:timers/promises'
import { openSocket, untilRefused } from 'fastify-contract-test-support/open-socket'
import t from 'tap'
import { request } from '../support/raw-http.ts'
import { builtCode } from '../support/service-code.ts'
import { startService } from '../support/service-process.ts'
import { storeWith } from '../support/store-module.ts'

/** Milliseconds that exceed the default of Fastify's pluginTimeout, 10 s. */
const late = 11_000

t.test('a request whose last byte arrives 11 s after SIGTERM is served, and the shutdown ends as usual', async (t) => {
  const STORE_URL = storeWith(t, "close: async () => console.log('closed'),")
  const { port, signal, untilEnded, banner } = await startService(t, { STORE_URL }, { command: builtCode.command })
  const begun = await openSocket(t, port, request().subarray(0, -3))
  signal('SIGTERM')
  await untilRefused(port)
  await sleep(late)
  begun.socket.write(request().subarray(-3))
  t.match(await begun.closed(), /^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is)
  const { stdout, ...end } = await untilEnded()
  t.hasStrict(end, { code: 0, signal: null, stderr: banner })
  t.match(stdout, /^\{.*"status":200.*\}$/m, 'the log line of the request is written')
  t.match(stdout, /^closed$/m, 'the store is closed')
})
