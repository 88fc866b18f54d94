import t from 'tap'
import { type AddressKind, addressKind } from '../../src/fetch/address-kinds.ts'

const kinds: Record<AddressKind, string[]> = {
  public: ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'],
  private: [
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '192.0.0.192',
    '198.18.0.1',
    '192.0.2.1',
    'fc00::1',
    'fd00:ec2::254',
    'fec0::1',
    '2002:7f00:1::',
    '2001:db8::1',
    '::7f00:1',
    '::ffff:0:7f00:1',
    '64:ff9b:1::a00:1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '4000::1',
  ],
  forbidden: [
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    'fe80::1',
    'fe80::1%eth0',
    '0.0.0.0',
    '0.1.2.3',
    '::',
    '224.0.0.1',
    'ff02::1',
    '255.255.255.255',
  ],
}

t.test('an address that is not public has another kind, also within an address of IPv6', async (t) => {
  for (const [kind, addresses] of Object.entries(kinds))
    for (const address of addresses) t.equal(addressKind(address), kind, address)
})
