import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { within } from 'fastify-contract-test-support/poll'
import t from 'tap'
import { openPortForwarder } from '../../src/dev/port-forwarder.ts'

t.test('the port of the command dev passes a reset on', async (t) => {
  // A response that breaks after its first bytes.
  const service = createServer((socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nfirst'))
    socket.once('end', () => socket.resetAndDestroy())
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  t.teardown(() => service.close())
  const forwarder = await openPortForwarder({ host: '127.0.0.1', port: 0 })
  t.teardown(() => forwarder.close())
  forwarder.forward(`http://127.0.0.1:${(service.address() as AddressInfo).port}`)
  const socket = connect(Number(new URL(forwarder.url).port), '127.0.0.1').setEncoding('latin1')
  t.teardown(() => socket.destroy())
  socket.write('GET /bytes HTTP/1.0\r\nHost: a\r\n\r\n')
  const failed = once(socket, 'close').catch((error) => error)
  const [text] = await within(once(socket, 'data'), 'the first bytes')
  t.match(text, /\r\n\r\nfirst$/)
  socket.end()
  t.match(await within(failed, 'the close of the connection'), { code: 'ECONNRESET' })
})
