import t from 'tap'
import { coveringArray } from '../../../src/contract-test/requests/covering-array.ts'

t.test('each two positions have all four combinations, in a logarithmic number of rows', async (t) => {
  t.same(coveringArray(0), [])
  t.same(coveringArray(1), [[true], [false]])
  for (const count of [2, 3, 4, 5, 8, 9, 33, 100]) {
    const rows = coveringArray(count)
    t.ok(rows.length <= 2 + 2 * Math.ceil(Math.log2(count)), `${count}: ${rows.length} rows`)
    const missing: string[] = []
    for (let one = 0; one < count; one++)
      for (let other = one + 1; other < count; other++) {
        const found = new Set(rows.map((row) => `${row[one]} ${row[other]}`))
        if (found.size !== 4) missing.push(`${one} ${other}`)
      }
    t.same(missing, [], `${count}`)
  }
})
