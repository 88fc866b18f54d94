import t from 'tap'
import { exactly } from '../../../../test/support/exact-pattern.ts'
import { decodeJson } from '../../src/http/read-body.ts'
import { exactInteger, stringifyJson, withDoubles } from '../../src/json/json-document.ts'
import { listItems } from '../../src/json/list-items.ts'

t.test('UTF-8 is decoded without its byte order mark', async (t) => {
  t.equal(decodeJson(Buffer.from('"ä\ufffd"')), '"ä\ufffd"')
  t.equal(decodeJson(Buffer.from('\ufeff"a"')), '"a"')
})

t.test('bytes that are not UTF-8 are rejected', async (t) => {
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80]]) {
    t.throws(() => decodeJson(Buffer.from(bytes)), { name: 'JsonError', message: /^it is not UTF-8$/ })
  }
})

t.test('a bigint is written as its digits', async (t) => {
  const value = { id: 2n ** 63n - 1n, list: [-(2n ** 63n), { '"id"': 0n }] }
  t.equal(stringifyJson(value), '{"id":9223372036854775807,"list":[-9223372036854775808,{"\\"id\\"":0}]}')
  t.equal(stringifyJson(2n ** 64n), '18446744073709551616')
})

t.test('everything else is written as JSON.stringify writes it', async (t) => {
  const values: unknown[] = [
    ...[null, true, 1.5, -0, Number.NaN, 'a"\u2028\ud800', undefined, () => {}, Symbol('a')],
    ...[[], {}, [undefined, () => {}, null], { a: undefined, b: [{ c: [] }] }],
    ...[new Date(0), { at: new Date(0) }, JSON.parse('{"__proto__":{"a":1}}')],
  ]
  for (const value of values) t.equal(stringifyJson(value), JSON.stringify(value))
})

t.test('bigints become doubles, and an inherited one is not copied', async (t) => {
  const shared = { c: [true] }
  const { value } = withDoubles({ a: 1n, b: [2n, null], shared })
  t.same(value, { a: 1, b: [2, null], shared })
  t.equal((value as { shared: object }).shared, shared)
  const inherited = Object.create({ a: 1n })
  t.equal(withDoubles(inherited).value, inherited)
})

t.test('every notation of an integer gives its exact value', async (t) => {
  const cases: [string, bigint][] = [
    ['0', 0n],
    ['-0', 0n],
    ['-0.000', 0n],
    ['0e999999999999', 0n],
    ['1', 1n],
    ['1.0', 1n],
    ['1e3', 1000n],
    ['1E+3', 1000n],
    ['1000e-3', 1n],
    ['12.5e1', 125n],
    ['0.00001e5', 1n],
    ['100.00', 100n],
    ['9007199254740993', 9007199254740993n],
    ['9.007199254740993e15', 9007199254740993n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    ['922337203685477580700e-2', 2n ** 63n - 1n],
    ['18446744073709551615', 2n ** 64n - 1n],
    [`1${'0'.repeat(100_000)}e-100000`, 1n],
    [`0.${'0'.repeat(100_000)}1e100001`, 1n],
  ]
  for (const [text, integer] of cases) t.equal(exactInteger(text), integer, text.slice(0, 40))
})

t.test('anything but an integer of at most 20 digits is undefined', async (t) => {
  const texts = ['12.5', '1e-1', '1.00000000000000000001', '9007199254740993.5', '1e1000000000', '1e-1000000000']
  const notNumbers = [
    '',
    ' 1',
    '1 ',
    '+1',
    '01',
    '0x10',
    '1n',
    'NaN',
    'Infinity',
    '1e',
    '.5',
    '5.',
    '--1',
    '123456789012345678901',
  ]
  for (const text of [...texts, ...notNumbers]) t.equal(exactInteger(text), undefined, text)
})

/** Reads all items and the return value of the iterator. */
function read(text: string): { items: unknown[]; returned: boolean } {
  const list = listItems(text, 'list')
  const items: unknown[] = []
  for (;;) {
    const { done, value } = list.next()
    if (done) return { items, returned: value }
    items.push(value)
  }
}

t.test('the items of a list equal those of JSON.parse', async (t) => {
  const items = [
    { a: ['}', ']', ',', '"', '\\', '\\"', '[{'] },
    [],
    {},
    [[1, 2], { b: [3] }],
    'text',
    '',
    1,
    -0.5,
    null,
    true,
  ]
  for (const list of [[], ...items.map((item) => [item]), items]) {
    for (const indent of [0, 2, '\t\r\n']) {
      t.strictSame(read(` ${JSON.stringify({ list }, null, indent)}\n`), { items: list, returned: true })
    }
  }
})

t.test('items are parsed lazily', async (t) => {
  const list = listItems('{"list":[1,2,x]}', 'list')
  t.strictSame(
    [list.next(), list.next()],
    [
      { done: false, value: 1 },
      { done: false, value: 2 },
    ],
  )
  t.throws(() => list.next(), /^unexpected character at character 13$/)
})

t.test('text that is not a JSON list is rejected', async (t) => {
  for (const text of [
    'null',
    '[]',
    '{}',
    '{"list":{}}',
    '{"other":[]}',
    '{"list":[1],"other":1}',
    '{"other":1,"list":[]}',
  ]) {
    t.equal(read(text).returned, false, text)
  }
})

t.test('invalid JSON is rejected with its position', async (t) => {
  const texts: [string, string][] = [
    ['', 'unexpected end at character 0'],
    ['{"list":[', 'unexpected end at character 9'],
    ['{"list":[1', 'unexpected end at character 10'],
    ['{"list":[{"a":"', 'unexpected end at character 15'],
    ['{"list":["\\', 'unexpected end at character 11'],
    ['{"list":[1]', 'unexpected end at character 11'],
    ['{"list":[1}', 'unexpected character at character 10'],
    ['{"list":[1]}x', 'unexpected character at character 12'],
    ['{"list":[,1]}', 'unexpected character at character 9'],
    ['{"list":[1,]}', 'unexpected character at character 11'],
    ['{"list":[1,,2]}', 'unexpected character at character 11'],
    ['{"list":[1 2]}', 'unexpected character at character 11'],
    ['{"list":[{"a":1,"a":2}]}', 'the same name twice in one object at character 19'],
    ['{"list":[],"list":[]}', 'the same name twice in one object at character 17'],
    ['{"list":[\u00a0]}', 'unexpected character at character 9'],
    ['\u00a0{"list":[]}', 'unexpected character at character 0'],
  ]
  for (const [text, message] of texts) {
    t.throws(() => read(text), { name: /^JsonError$/, message: exactly(message) }, text)
  }
})
