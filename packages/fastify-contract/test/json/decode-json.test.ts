import t from 'tap'
import { decodeJson } from '../../src/http/read-body.ts'

t.test('UTF-8 is decoded without its byte order mark', async (t) => {
  t.equal(decodeJson(Buffer.from('"ä\ufffd"')), '"ä\ufffd"')
  t.equal(decodeJson(Buffer.from('\ufeff"a"')), '"a"')
})

t.test('bytes that are not UTF-8 are rejected', async (t) => {
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80]]) {
    t.throws(() => decodeJson(Buffer.from(bytes)), { name: 'JsonError', message: /^it is not UTF-8$/ })
  }
})
