import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { parse } from 'yaml'
import type { Pairs } from '../../scripts/benchmark/commands/measure.ts'
import { inBoth, ratiosOf, setbacks } from '../../scripts/benchmark/commands/ratios.ts'
import { readDocument } from '../../scripts/benchmark/commands/real-documents.ts'
import { commandTable } from '../../scripts/benchmark/commands/report.ts'
import { assertWorks } from '../../scripts/benchmark/implementations.ts'
import { sendRequests } from '../../scripts/benchmark/load.ts'
import { addResult, type Results, report } from '../../scripts/benchmark/report.ts'
import { createdPlant, templates } from '../../scripts/benchmark/requests.ts'
import { QuietSlices } from '../../scripts/benchmark/steal.ts'

t.test('a ratio is the median of the ratios of all rounds, and the chart has the median of CPU', async (t) => {
  const results: Results = new Map()
  const add = (implementation: 'node-http' | 'fastify' | 'service', ...costs: number[]) => {
    for (const cost of costs) addResult(results, '64 connections', 'cpu', implementation, cost)
  }
  add('fastify', 10, 40, 20)
  add('service', 20, 50, 10)
  add('node-http', 10, 10, 10)
  const { summary, details } = report(results)
  const text = [...summary, ...details].join('\n\n')
  // The ratios of the service are 0.5, 0.8 and 2. The ratio of the medians would be 1.
  t.match(text, /^\| 64 connections \| +2\.00 \(1\.50-3\.00\) \| +1\.00 \(1\.00-1\.00\) \| +0\.80 \(0\.65-1\.40\) \|$/m)
  t.match(text, /^\| 64 connections \| +10\.0 \| +20\.0 \| +20\.0 \|$/m)
  t.match(text, /^node:http {5}█{50} 100,000$/m)
  t.match(text, /^this service {2}█{25} 50,000$/m)
})

t.test('the load keeps its rate, sends each id once, and counts a stall and wrong responses', async (t) => {
  const [bodies, statuses] = [new Set<string>(), [200]]
  const server = createServer(async (request, response) => {
    let body = ''
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

t.test('a slice with stolen time is measured again, up to three times', async (t) => {
  const discarded: number[] = []
  const measure = async (...stolen: number[]) => {
    let [worked, total, calls] = [0, 0, 0]
    const slices = new QuietSlices(() => ({ worked, stolen: total }))
    const slice = async () => {
      worked += 100
      total += stolen[calls] as number
      return ++calls
    }
    return { result: await slices.measure(slice, async (dropped) => void discarded.push(dropped)), slices }
  }
  const quiet = await measure(5)
  t.match([quiet.result, quiet.slices.isNoisy], [1, false])
  t.match(
    quiet.slices.summary,
    /^Of 1 slices, 0 were dropped and repeated, since .* stole more than 5 % of their time\.$/,
  )
  const once = await measure(10, 0)
  t.match([once.result, once.slices.isNoisy], [2, false])
  t.match(once.slices.summary, 'Of 1 slices, 1 were dropped')
  t.same(discarded, [1])
  const noisy = await measure(10, 20, 30)
  t.match([noisy.result, noisy.slices.isNoisy], [3, true])
  t.match(noisy.slices.summary, /2 were dropped .* 1 more had as much in each of 3 attempts, and remain\.$/)
})

t.test('this machine has the counters of stolen time', { skip: process.platform !== 'linux' }, async (t) => {
  t.equal(await new QuietSlices().measure(async () => 'measured'), 'measured')
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
