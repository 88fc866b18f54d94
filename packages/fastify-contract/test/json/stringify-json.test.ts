import t from 'tap'
import { stringifyJson, withDoubles } from '../../src/json/json-document.ts'

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
