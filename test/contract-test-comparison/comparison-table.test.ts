import { join } from 'node:path'
import t from 'tap'
import { comparisonOf, faultsOf, type RecordedRun, Runs } from './compare.ts'
import { comparisonText } from './comparison-table.ts'
import { faults } from './faults.ts'
import { findingsIn } from './schemathesis.ts'
import { symptoms } from './symptoms.ts'
import type { Finding } from './tool-run.ts'

const finding = (requests: number, key = 'a'): Finding => ({ key, requests, seconds: requests / 10, text: 'text' })

/** Returns the run of a tool with a seed, and with a fault, if one is named. */
const run = (tool: string, seed: number, findings: Finding[], fault = 'head-differs'): RecordedRun => ({
  ...{ service: 'books', fault, tool, seed, findings },
  ...{ requests: 10 * seed, seconds: tool === 'one' ? 2 : 30, isBounded: tool === 'two' && seed === 3 },
})

const runs = [
  ...[run('one', 1, [], ''), run('two', 1, [finding(1, 'known `x`')], ''), run('three', 1, [], '')],
  ...[run('one', 1, [finding(5)]), run('one', 2, [finding(1)]), run('one', 3, [finding(3)])],
  ...[run('two', 1, [finding(1, 'known `x`')]), run('two', 2, [finding(2, 'known `x`'), finding(40)])],
  ...[run('two', 3, []), run('three', 1, [])],
  run('one', 1, [], 'pair-error'),
]

t.test('the table has medians and spreads until a fault was found, and what was not found', async (t) => {
  const text = comparisonText(comparisonOf(runs), 'A machine.')
  t.match(text, /^A machine\.\n\n\| fault +\| +one \| +two \| +three \|\n/)
  t.match(
    text,
    /\| books: HEAD .* \| 3 \(1 to 5\) requests, 0\.3 \(0\.1 to 0\.5\) s \| 1 of 3: 40 requests, 4\.0 s \(1 ended at the bound\) \| +not found \|/,
  )
  t.match(text, /\| books: two optional .* \| +not found \| +not measured \| +not measured \|/)
  t.match(text, /\| found with every seed +\| +1 of 2 \| +0 of 1 \| +0 of 1 \|/)
  t.match(text, /\| found with a seed +\| +1 of 2 \| +1 of 1 \| +0 of 1 \|/)
  t.match(text, /\| not found, but by one +\| +\| +0 \| +1 \|/)
  t.match(text, /\| requests of whole runs +\| +30 \| +20 \| +10 \|/)
  t.match(text, /\| seconds of whole runs +\| +4 \| +30 \| +30 \|\n\| ratio +\| +\| +15\.0 \| +15\.0 \|/)
  t.match(
    text,
    /\| seconds until found, of what both find +\| +0\.3 \| +4\.0 \| +0\.0 \|\n\| ratio +\| +\| +13\.3 \| +\|/,
  )
  t.match(text, /\| runs that were ended at their bound +\| +0 \| +1 \| +0 \|/)
  t.match(text, /\n- two: `books known x`$/)
})

t.test('runs are kept in a file, and a repeated run replaces its record', async (t) => {
  const file = join(t.testdir(), 'runs.json')
  const first = new Runs(file)
  await first.load()
  await first.add(run('one', 1, []))
  await first.add(run('one', 1, [finding(7)]))
  const again = new Runs(file)
  await again.load()
  t.same(again.all, [run('one', 1, [finding(7)])])
  const id = { service: 'books', fault: 'head-differs', tool: 'one' } as const
  t.ok(again.has({ ...id, seed: 1 }))
  t.notOk(again.has({ ...id, seed: 2 }))
})

t.test('a report of Schemathesis that ends within a line has the findings until then', async (t) => {
  const scenario = (id: string, timestamp: number) =>
    JSON.stringify({
      ScenarioFinished: {
        recorder: {
          label: 'GET /books',
          checks: { [id]: [{ name: 'not_a_server_error', status: 'failure' }] },
          interactions: { other: { timestamp }, [id]: { timestamp } },
        },
      },
    })
  const { findings, requests } = findingsIn(`{"Initialize":{}}\n${scenario('a', 12)}\n${scenario('b', 13)}`, 10_000)
  const key = 'GET /books not_a_server_error not_a_server_error'
  t.match(findings, [{ key, requests: 2, seconds: 2 }])
  t.equal(requests, 2)
  t.same(findingsIn('', 0), { findings: [], requests: 0 })
})

t.test('there are twenty faults of different names, each with a symptom', async (t) => {
  const names = faults.map(({ name }) => name)
  t.equal(new Set(names).size, 20)
  t.same(Object.keys(symptoms).sort(), names.toSorted())
  t.same(faultsOf([]), faults)
})
