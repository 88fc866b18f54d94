import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import { parse } from 'yaml'
import type { Pairs } from '../../scripts/benchmark/commands/measure.ts'
import { inBoth, ratiosOf, setbacks } from '../../scripts/benchmark/commands/ratios.ts'
import { readDocument } from '../../scripts/benchmark/commands/real-documents.ts'
import { commandTable } from '../../scripts/benchmark/commands/report.ts'
import { assertWorks, type Implementation } from '../../scripts/benchmark/implementations.ts'
import { openConnections, sendRequests } from '../../scripts/benchmark/load.ts'
import { openingOf, verdictOf } from '../../scripts/benchmark/opening.ts'
import { page, partsOf } from '../../scripts/benchmark/page.ts'
import { type Published, type Run, readPublished, textOf } from '../../scripts/benchmark/published.ts'
import { detailsOf, textBetween } from '../../scripts/benchmark/report.ts'
import { createdPlant, templates } from '../../scripts/benchmark/requests.ts'
import {
  addSlice,
  type Figure,
  type Results,
  type Row,
  rowsOf,
  type Spread,
  spreadText,
} from '../../scripts/benchmark/results.ts'
import { QuietSlices, sliceText } from '../../scripts/benchmark/steal.ts'

t.test('the load keeps its rate, sends each id once, and counts a stall and wrong responses', async (t) => {
  const [bodies, statuses, sockets] = [new Set<string>(), [200], new Set<Socket>()]
  const server = createServer(async (request, response) => {
    let body = ''
    sockets.add(request.socket)
    for await (const chunk of request) body += chunk
    if (bodies.size === 0) await new Promise((resolve) => setTimeout(resolve, 150))
    bodies.add(body)
    response.writeHead(statuses[0] as number, { 'content-length': createdPlant.length }).end(createdPlant)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  const load = { port, template: templates.plant, operations: 1, connections: 1 }
  const { answers, errors, max } = await sendRequests({ ...load, first: 10_000_000 }, { seconds: 0.5, rate: 200 })
  t.same([bodies.size, errors], [answers, 0])
  t.ok(answers > 50 && answers < 160, `${answers} answers`)
  t.ok(max > 140, 'requests that were due during the stall waited')
  const connections = await openConnections(port, 3)
  sockets.clear()
  await sendRequests({ ...load, first: 15_000_000 }, { seconds: 5, rate: 50, count: 3 }, connections)
  t.equal(sockets.size, 3, 'given connections take turns')
  for (const { close } of connections) close()
  statuses[0] = 503
  const refused = await sendRequests({ ...load, first: 20_000_000 }, { seconds: 5, count: 3 })
  t.match(refused, { answers: 0, errors: 3 })
  await t.rejects(assertWorks({ implementation: 'fastify', port }, 'plants'), {
    message: /^fastify responds to a plant with 503/,
  })
})

const usage = (wall: number, cpu: number, memory: number) => ({ wall, cpu, memory })
const committed = { 'A: new': usage(2, 3, 1.5), 'A: edited': usage(1, 1, 1) }

t.test('a ratio that is a third worse is a setback, and a smaller difference is none', async (t) => {
  t.same(setbacks(committed, { 'A: new': usage(2.6, 3.9, 1.9), 'A: edited': usage(0.1, 1.33, 1.2) }, false), [])
  t.same(setbacks(committed, { 'A: new': usage(2.7, 4.1, 2.1), 'A: edited': usage(1, 1, 1) }, false), [
    'A: new: the ratio of elapsed time is 2.7, and was 2',
    'A: new: the ratio of CPU is 4.1, and was 3',
    'A: new: the ratio of memory is 2.1, and was 1.5',
  ])
  t.same(
    setbacks(committed, { ...committed, 'A: edited': usage(9, 1, 1) }, true),
    [],
    'elapsed time, where it is stolen',
  )
  t.match(setbacks(committed, { ...committed, 'A: edited': usage(1, 9, 1) }, true), [
    'A: edited: the ratio of CPU is 9',
  ])
  t.equal(setbacks(committed, { ...committed, 'A: edited': usage(Number.NaN, 1, 1) }, false).length, 1)
})

t.test('a row that one side lacks is a setback, and so is a version of Node without ratios', async (t) => {
  const { 'A: new': measured, ...others } = committed
  t.match(setbacks(committed, { 'A: new': measured }, false), [/^A: edited: not measured; /])
  t.match(setbacks(others, committed, false), [/^A: new: has no committed ratios; /])
  t.match(setbacks(undefined, committed, false), [/^there are no committed ratios for this version of Node; /])
})

t.test('a setback counts if a second measurement has it, with any figures', async (t) => {
  const ratios = (cpu: number, memory: number) => ({ ...committed, 'A: edited': usage(1, cpu, memory) })
  const [first, second] = [setbacks(committed, ratios(2, 2), false), setbacks(committed, ratios(3, 1), false)]
  t.same(inBoth(first, second), ['A: edited: the ratio of CPU is 3, and was 1'])
  t.same(inBoth(second, setbacks(committed, ratios(1, 2), false)), [])
  const missing = setbacks(committed, {}, false)
  t.same(inBoth(missing, missing), missing)
})

t.test('the ratio of a command is the median of the ratios of its pairs', async (t) => {
  const peer = usage(1, 1, 100)
  const pairs: Pairs = new Map([
    [
      'A: new',
      [
        { own: usage(3, 4, 150), peer },
        { own: usage(3, 6, 150), peer: usage(2, 2, 100) },
        { own: usage(2, 2, 300), peer },
      ],
    ],
  ])
  pairs.set('A: dev', [{ own: { wall: 0.5 }, peer }])
  t.same(ratiosOf(pairs), { 'A: new': usage(2, 3, 1.5), 'A: dev': { wall: 0.5 } })
  t.match(commandTable(pairs), /^\| A: dev \| +0\.50( \| +-){3} \| +2\.5 s \| +0\.50( \| +-){2} \| +1\.00 \|$/m)
  t.match(
    commandTable(pairs),
    /^\| A: new \| +2\.00 \| +3\.00 \| +1\.50( \| +-){2} \| +3\.00 \| +4\.00 \| +150 \| +1\.00 \|$/m,
  )
})

/** Measures slices in which the given shares of 100 ticks were stolen, in turns. */
async function slicesWith(...stolen: number[]) {
  const discarded: number[] = []
  let [worked, total, calls] = [0, 0, 0]
  const slices = new QuietSlices(() => ({ worked, stolen: total, passed: worked + total }))
  async function slice() {
    const next = stolen[calls] as number
    worked += 100 - next
    total += next
    return ++calls
  }
  const measured = await slices.measure(slice, async (dropped) => void discarded.push(dropped))
  return { ...measured, discarded, counts: slices.counts, isNoisy: slices.isNoisy }
}

t.test('a slice with at most 2 % of stolen time counts at once', async (t) => {
  const counts = { measured: 1, repeated: 0, dropped: 0 }
  t.same(await slicesWith(2), { result: 1, isQuiet: true, discarded: [], counts, isNoisy: false })
})

t.test('a slice with more than 2 % is repeated until one is quiet', async (t) => {
  const counts = { measured: 1, repeated: 1, dropped: 0 }
  t.same(await slicesWith(3, 2), { result: 2, isQuiet: true, discarded: [1], counts, isNoisy: false })
})

t.test('the quietest of three attempts counts with at most 5 %, and is dropped with more', async (t) => {
  const counts = { measured: 1, repeated: 2, dropped: 0 }
  t.same(await slicesWith(7, 5, 9), { result: 2, isQuiet: true, discarded: [1, 3], counts, isNoisy: false })
  t.same(await slicesWith(7, 9, 6), {
    result: 3,
    isQuiet: false,
    discarded: [2, 1],
    counts: { ...counts, dropped: 1 },
    isNoisy: true,
  })
})

t.test('a tick of stolen time in an idle slice is no large share', async (t) => {
  let calls = 0
  const idle = () => ({ worked: calls, stolen: calls, passed: 500 * calls })
  const slices = new QuietSlices(idle)
  t.match(await slices.measure(async () => ++calls), { result: 1, isQuiet: true })
  t.match(slices.counts, { repeated: 0 })
})

t.test('a sentence counts the slices of several runs', async (t) => {
  const text = sliceText([
    { measured: 1_000, repeated: 20, dropped: 1 },
    { measured: 500, repeated: 3, dropped: 2 },
  ])
  t.match(text, /^1,500 slices: 23 repeats, since more than 2 % .* 3 dropped, since more than 5 % /)
})

const at = (row: string, round: number, implementation: Implementation) => ({ row, round, implementation })

/** Adds a value of each round for Fastify and for this service; undefined is a slice that was not quiet. */
function addRounds(results: Results, row: string, figure: Figure, pairs: [number | undefined, number | undefined][]) {
  for (const [round, pair] of pairs.entries())
    for (const [index, implementation] of (['fastify', 'service'] as const).entries()) {
      const value = pair[index]
      addSlice(results, at(row, round, implementation), {
        result: { [figure]: value ?? 1 },
        isQuiet: value !== undefined,
      })
    }
}

t.test('a ratio is the median of the ratios of rounds in which both slices were quiet', async (t) => {
  const results: Results = new Map()
  addRounds(results, 'A', 'cpu', [
    [10, 20],
    [40, 50],
    [undefined, 1],
    [20, 10],
    [30, undefined],
  ])
  const [row] = rowsOf(results)
  // The ratios are 0.5, 0.8 and 2. The ratio of the medians would be 1.67.
  t.same(row?.cells.service, { value: [15, 7.75, 27.5, 4], ratio: [0.8, 0.65, 1.4, 3] })
  t.same(row?.cells.fastify?.value, [25, 17.5, 32.5, 4])
  t.equal(spreadText(row?.cells.service?.ratio), '0.80 (0.65-1.40, 3)')
  t.match(detailsOf([row as Row]), /^\| CPU, ratio: A +\| 1\.00 \(1\.00-1\.00, 4\) \| 0\.80 \(0\.65-1\.40, 3\) \|$/m)
})

t.test('more of a throughput is better', async (t) => {
  const results: Results = new Map()
  addRounds(results, 'A', 'rate', [[100, 400]])
  t.same(rowsOf(results)[0]?.cells.service?.ratio, [4, 4, 4, 1])
})

const run = (version: string, rows: Row[]): Run => ({
  version,
  conditions: 'A machine.',
  slices: { measured: 1, repeated: 0, dropped: 0 },
  rows,
})

const rowWith = (row: string, figure: Figure, ratio: Spread, value: Spread = [1, 1, 1, 5]): Row => ({
  row,
  figure,
  cells: { fastify: { value: [0, 0, 0, 5] }, service: { value, ratio } },
})

t.test('the opening says what the rows of all versions say', async (t) => {
  const of = (version: string, more: number): Published[string] => ({
    memory: run(version, [
      rowWith('8 connections', 'cpu', [1.25, 1.2, 1.3, 5]),
      rowWith('1 connection', 'cpu', [0.8, 0.7, 0.9, 5]),
      rowWith('64 connections', 'cpu', [1.05, 1.01, 1.2, 5]),
      rowWith('wide', 'cpu', [1.5, 0.9, 1.9, 5]),
      rowWith('body', 'cpu', [more, more, more, 5]),
      rowWith('noisy', 'cpu', [2, 2, 2, 2]),
      rowWith('in memory', 'share', [1, 1, 1, 5], [more / 100, 0, 0, 5]),
      rowWith('in memory', 'wakeUps', [1, 1, 1, 5], [4, 4, 4, 5]),
    ]),
    sqlite: run(version, [rowWith('64 clients', 'rate', [4 * more, 4, 9, 5])]),
    peers: run(version, [rowWith('peers', 'cpu', [9, 9, 9, 5])]),
  })
  const published = { 20: of('20.1.0', 1.25), 24: of('24.1.0', 2) }
  t.same(openingOf(published).split('\n'), [
    'Compared with Fastify by hand, with Node 20 and 24, this service needs',
    '',
    '- 20 to 50 % less CPU for: 8 connections; body.',
    '- 25 % more CPU for: 1 connection.',
    '- as much CPU, within 10 % or the spread, for: 64 connections; wide.',
    '- 80 to 88 % less time for: throughput: 64 clients.',
    '- an unknown amount, with fewer than three quiet rounds, for: noisy.',
    '- while idle, 0.01 to 0.02 % of a core and 4 wake-ups a second (Fastify: 0.00 % of a core and 0 wake-ups a second).',
  ])
  t.match(openingOf({ ...published, 26: of('26.1.0', 0.5) }), /^- more or less CPU, .* for: body\.$/m)
  const lacking = { ...published, 26: { memory: run('26.1.0', []) } }
  t.match(openingOf(lacking), /^- an unknown amount, .* for: 8 connections; 1 connection; /m)
  t.match(openingOf({}), /^There are no figures yet/)
})

t.test('a difference is one of 10 %, with both quartiles on its side', async (t) => {
  const verdict = (...ratio: [number, number, number]) => verdictOf([[...ratio, 3]])
  t.equal(verdict(1.1, 1.01, 1.2), 'better')
  t.equal(verdict(1.09, 1.05, 1.2), 'same')
  t.equal(verdict(1.5, 1, 1.9), 'same')
  t.equal(verdict(0.9, 0.8, 0.99), 'worse')
  t.equal(verdict(0.92, 0.9, 0.95), 'same')
  t.equal(verdict(0.5, 0.4, 1), 'same')
  t.equal(verdictOf([[2, 2, 2, 2]]), 'unknown')
  t.equal(verdictOf([[2, 2, 2, 3], undefined]), 'unknown')
})

t.test('the page shows what was published, in at most 150 lines', async (t) => {
  const text = readFileSync(page, 'utf8')
  for (const [part, expected] of Object.entries(partsOf(await readPublished())))
    t.ok(text.includes(textBetween(part, expected)), `${part}: run .ci/nightly benchmark --page`)
  t.ok(text.split('\n').length <= 151)
})

t.test(
  'the tables have a column for each version, and one more of a series takes the memory between its ends',
  async (t) => {
    const memory = (count: number, own: number, other: number): Row => ({
      row: `${count.toLocaleString('en-US')} connection${count === 1 ? '' : 's'}`,
      figure: 'memory',
      cells: { fastify: { value: [other, other, other, 3] }, service: { value: [own, own, own, 3] } },
    })
    const published = {
      20: { memory: run('20.1.0', [rowWith('A', 'cpu', [2, 1, 3, 5])]) },
      24: {
        memory: run('24.1.0', [rowWith('A', 'cpu', [3, 2, 4, 5]), rowWith('B', 'wakeUps', [1, 1, 1, 5], [7, 6, 8, 5])]),
        peers: run('24.1.0', [
          { row: 'A', figure: 'cpu', cells: { glue: { value: [1, 1, 1, 5], ratio: [0.5, 0.4, 0.6, 5] } } },
        ]),
        growth: run('24.1.0', [memory(1, 50, 40), memory(10_000, 150, 90)]),
      },
    }
    const parts = partsOf(published)
    t.match(parts['the figures'], /^\| +\| +Node 20\.1\.0 \| +Node 24\.1\.0 \|$/m)
    t.match(parts['the figures'], /^\| CPU: A \| 2\.00 \(1\.00-3\.00, 5\) \| 3\.00 \(2\.00-4\.00, 5\) \|$/m)
    t.match(parts['the figures'], /^\| wake-ups when idle: B, 1\/s .* 7\.00 \(6\.00-8\.00, 5\) \|$/m)
    t.match(parts['the figures'], /^A machine\.\n4 slices: /m)
    t.match(parts['the implementations'], /^\| Node 24\.1\.0 /)
    t.match(parts['the implementations'], /^\| glue .* 0\.50 \(0\.40-0\.60, 5\) \|$/m)
    t.match(parts['the growth'], /^\| 10,000 connections .* 150 \(150-150, 3\) .* 5\.1 KiB; 10\.2 KiB \|$/m)
    t.same(published, JSON.parse(textOf(published)))
    t.match(textOf(published), '"ratio": [2, 1, 3, 5]')
  },
)

t.test('this machine has the counters of stolen time', { skip: process.platform !== 'linux' }, async (t) => {
  t.match(await new QuietSlices().measure(async () => 'measured'), { result: 'measured' })
})

t.test('an edit adds a property and a parameter, and leaves the rest of a document', async (t) => {
  const document = {
    paths: { '/a': { parameters: [], get: { operationId: 'a' } } },
    components: { schemas: { A: { type: 'string' }, B: { properties: { c: {} } } } },
  }
  const added = { type: 'string' }
  const expected = {
    paths: {
      '/a': {
        parameters: [],
        get: { operationId: 'a', parameters: [{ name: 'addedByTheBenchmark', in: 'query', schema: added }] },
      },
    },
    components: { schemas: { A: { type: 'string' }, B: { properties: { c: {}, addedByTheBenchmark: added } } } },
  }
  const text = JSON.stringify(document)
  const directory = t.testdir({ 'a.json': text, 'b.yaml': `# ${text}\n${text}\n`, 'c.json': '{}' })
  const json = readDocument({ name: 'A', path: `${directory}/a.json` })
  t.match(json, { name: 'A', file: 'openapi.json', text })
  t.same(JSON.parse(json.edited), expected)
  const yaml = readDocument({ name: 'B', path: `${directory}/b.yaml` })
  t.same([yaml.file, parse(yaml.edited)], ['openapi.yaml', expected])
  t.throws(() => readDocument({ name: 'C', path: `${directory}/c.json` }), { message: /^c\.json has no schema with / })
})
