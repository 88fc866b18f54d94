import t from 'tap'
import { clientAddress } from '../../src/http/request-context.ts'

const told = (ip: string) => clientAddress({ ip, socket: { remoteAddress: '127.0.0.1' } } as never)

t.test('an address is returned without its port', async (t) => {
  for (const address of ['192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1']) t.equal(told(address), address)
  t.equal(told('192.0.2.1:65535'), '192.0.2.1')
  t.equal(told('[2001:db8::1]:1'), '2001:db8::1')
  t.equal(told('[2001:db8::1]'), '2001:db8::1')
})

t.test('text that is not an address is ignored, so it cannot reach the log', async (t) => {
  for (const text of ['', 'unknown', '_hidden', '192.0.2.256:1', '[x]:1', 'x'.repeat(10_000), '{"a":1}']) {
    t.equal(told(text), '127.0.0.1', text.slice(0, 20))
  }
  t.equal(clientAddress({ ip: undefined, socket: {} } as never), undefined, 'a closed connection')
})
