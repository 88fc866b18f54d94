import t from 'tap'
import { exactInteger } from '../../src/json/json-document.ts'

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
