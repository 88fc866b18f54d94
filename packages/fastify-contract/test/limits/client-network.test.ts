import t from 'tap'
import { networkOf } from '../../src/limits/limits.ts'

t.test('the network of an address is all of IPv4 and the first 64 bits of IPv6', async (t) => {
  const networks = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::1': '0:0:0:0',
    '::': '0:0:0:0',
    '2001:DB8:1:2:3:4:5:6': '2001:db8:1:2',
    '2001:db8::1': '2001:db8:0:0',
    '2001:db8:1:2::': '2001:db8:1:2',
    'fe80::1%eth0': 'fe80:0:0:0',
  }
  for (const [address, network] of Object.entries(networks)) t.equal(networkOf(address), network, address)
})
