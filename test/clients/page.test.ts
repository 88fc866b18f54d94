import { readFileSync } from 'node:fs'
import t from 'tap'
import { textBetween } from '../../scripts/benchmark/report.ts'
import { choices, sentByAll } from './choices.ts'
import type { Case } from './driver.ts'
import type { Result } from './judge.ts'
import { page, partsOf } from './page.ts'
import { keyOf } from './recorder.ts'
import { cellsOf, codes, countOf, featureTable, unlistedCases, versionTable } from './table.ts'
import { merge, readVerdicts } from './verdicts.ts'

const cases: Case[] = JSON.parse(readFileSync('test/clients/cases.json', 'utf8'))
const versions: Record<string, Record<string, string>> = JSON.parse(readFileSync('test/clients/versions.json', 'utf8'))
const published = readVerdicts()

/** Returns the verdicts of one client, the typed one, for some cases. */
const verdictsOf = (results: Record<string, Result>) =>
  merge(
    { clients: {}, cases: {} },
    { 'typed-client': { versions: { a: '1.0.0' }, cases: results } },
    ['typed-client'],
    Object.keys(results),
  )

t.test('the published verdicts are those of the cases and versions of the repository', async (t) => {
  t.same(Object.keys(published.cases), cases.map(keyOf), 'run .ci/nightly clients --write')
  t.same(published.clients, versions, 'run .ci/nightly clients --write')
})

t.test('the tables of the page are made from the published verdicts', async (t) => {
  const text = readFileSync(page, 'utf8')
  for (const [part, expected] of Object.entries(partsOf(published)))
    t.ok(text.includes(textBetween(part, expected)), `${part}: run .ci/nightly clients --page`)
})

t.test('each client has a code of its own in the table', async (t) => {
  t.same(Object.keys(codes).sort(), Object.keys(versions).sort())
  t.equal(new Set(Object.values(codes)).size, Object.keys(versions).length)
})

t.test('each case is in one row of the table', async (t) => t.same(unlistedCases(cases.map(keyOf)), []))

t.test('a choice is right for at least as many clients as what it replaces', async (t) => {
  const count = (feature: string) => countOf(cellsOf(published, feature), '✓')
  for (const { need, choose, instead } of choices)
    for (const [other] of instead) t.ok(count(choose) >= count(other), `${need}: ${other}`)
})

t.test('each rule of a choice is on the page of the advice', async (t) => {
  const advice = readFileSync('packages/fastify-contract-cli/docs/client-advice.md', 'utf8')
  const rules = choices.flatMap(({ instead }) => instead.flatMap(([, rule]) => rule ?? []))
  for (const rule of rules) t.ok(advice.includes(`| \`clients/${rule}\` |`), rule)
})

t.test('a cell tells whether all cases are right, only the simple ones, or none', async (t) => {
  const feature = 'query, `form`: list'
  const cellOf = (plain: Result, odd: Result) =>
    cellsOf(verdictsOf({ 'queryFormArray/plain': plain, 'queryFormArray/odd characters': odd }), feature)[
      'typed-client'
    ]
  const right: Result = { verdict: 'right' }
  const missing: Result = { verdict: 'missing' }
  const wrong: Result = { verdict: 'different', arrived: {}, returned: { error: 'Error: no' } }
  const rejected: Result = { verdict: 'rejected', message: '400' }
  t.equal(cellOf(right, right), '✓')
  t.equal(cellOf(right, wrong), '~')
  t.equal(cellOf(wrong, right), '!')
  t.equal(cellOf(rejected, rejected), '✗')
  t.equal(cellOf({ verdict: 'different', returned: { error: 'Error: no' } }, right), '✗')
  t.equal(cellOf({ verdict: 'not sent' }, right), '✗')
  t.equal(cellOf(missing, missing), '–')
})

t.test('new verdicts replace those of the same client, and others stay', async (t) => {
  const old = { clients: { a: { v: '1' }, b: { v: '1' }, gone: {} }, cases: { x: '+!+', y: '-0+', gone: '+++' } }
  const results = {
    b: { versions: { v: '2' }, cases: { x: { verdict: 'right' }, y: { verdict: 'rejected' } } },
  } as const
  t.same(merge(old, results, ['a', 'b', 'c'], ['x', 'y']), {
    clients: { a: { v: '1' }, b: { v: '2' } },
    cases: { x: '++', y: '-4' },
  })
})

t.test('the table begins with the features of most clients, and lists the versions and counts of each', async (t) => {
  const verdicts = verdictsOf({
    'pathSimplePrimitive/plain': { verdict: 'rejected' },
    'queryPrimitive/plain': { verdict: 'right' },
    'headerPrimitive/plain': { verdict: 'not sent' },
    'bodyNone/plain': { verdict: 'different' },
  })
  t.match(featureTable(verdicts), /^\| feature \| of 1 \| typ \|\n\| --- \| --- \| --- \|\n\|/)
  t.ok(
    featureTable(verdicts).indexOf('| query: text | 1 | ✓ |') <
      featureTable(verdicts).indexOf('| path, `simple`: text | 0 | ✗ |'),
  )
  t.match(versionTable(verdicts), '| `typ` | typed-client | a 1.0.0 | 1 | 1 | 1 | 1 | 0 |')
  t.match(sentByAll(verdicts), '- query: text')
})
