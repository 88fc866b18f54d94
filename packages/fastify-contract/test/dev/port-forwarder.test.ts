import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { httpRequest } from '../../../../test/support/http-request.ts'
import { openPortForwarder } from '../../src/dev/port-forwarder.ts'

async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('connections wait while the service is replaced and are closed when none runs', async (t) => {
  const front = await openPortForwarder({ host: '127.0.0.1', port: 0 })
  t.teardown(front.close)
  const body = 'x'.repeat(1_000_000)
  const [old, new_] = await Promise.all(
    ['old', 'new'].map((name) => serve(t, (request, response) => request.resume().on('end', () => response.end(name)))),
  )
  const post = async () => (await httpRequest(front.url, { method: 'POST', body })).body
  const first = post()
  front.forward(old)
  t.equal(await first, 'old')
  t.equal(await post(), 'old')
  front.hold()
  const waiting = post()
  front.hold()
  front.forward(new_)
  t.equal(await waiting, 'new')
  t.equal(await post(), 'new')
  front.forward(undefined)
  await t.rejects(post(), { code: /ECONNRESET|EPIPE/ })
})
