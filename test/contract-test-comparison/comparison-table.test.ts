import t from 'tap'
import { faultsOf } from './compare.ts'
import { comparisonText } from './comparison-table.ts'
import { faults } from './faults.ts'
import type { Finding } from './tool-run.ts'

const finding = (requests: number): Finding => ({ key: 'a', requests, seconds: requests / 10, text: '' })

t.test('the table has medians and spreads until a fault was found, and what was not found', async (t) => {
  const [fault] = faultsOf(['head-differs'])
  t.ok(fault)
  if (fault === undefined) return
  const cell = { requests: [9, 8, 7], seconds: [3, 2, 1] }
  const cells = {
    one: { ...cell, found: [finding(5), finding(1), finding(3)] },
    two: { ...cell, found: [undefined, finding(4), undefined] },
    three: { ...cell, found: [undefined, undefined, undefined] },
  }
  const alarms = { one: new Map(), two: new Map([['books GET /books `x`', 'text']]), three: new Map() }
  const text = comparisonText({ tools: Object.keys(cells), faults: [{ fault, cells }], alarms }, 'A machine.')
  t.match(text, /^A machine\.\n\n\| fault +\| +one \| +two \| +three \|\n/)
  t.match(
    text,
    /\| books: HEAD .* \| 3 \(1 to 5\) requests, 0\.3 \(0\.1 to 0\.5\) s \| 1 of 3: 4 requests, 0\.4 s \| +not found \|/,
  )
  t.match(text, /\| found with every seed +\| +1 of 1 \| +0 of 1 \| +0 of 1 \|/)
  t.match(text, /\| found with a seed +\| +1 of 1 \| +1 of 1 \| +0 of 1 \|/)
  t.match(text, /\| requests of all runs +\| +8 \| +8 \| +8 \|/)
  t.match(text, /\n- two: `books GET \/books x`$/)
})

t.test('there are twenty faults of different names', async (t) => {
  t.equal(new Set(faults.map(({ name }) => name)).size, 20)
  t.same(faultsOf([]), faults)
})
