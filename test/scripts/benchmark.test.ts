import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { assertWorks } from '../../scripts/benchmark/contenders.ts'
import { parseWrk, sendRequests } from '../../scripts/benchmark/load.ts'
import { addResult, type Results, report, writeFigures } from '../../scripts/benchmark/report.ts'
import { createdPlant, templates } from '../../scripts/benchmark/requests.ts'
import { run } from '../support/child-process.ts'

const hasCores = spawnSync('taskset', ['-c', '0,1', 'true']).status === 0

t.test('a ratio is the median of the ratios of all rounds, and the chart has the median of CPU', async (t) => {
  const results: Results = new Map()
  const add = (contender: 'node-http' | 'fastify' | 'service', ...costs: number[]) => {
    for (const cost of costs) addResult(results, '64 connections', 'cpu', contender, cost)
  }
  add('fastify', 10, 40, 20)
  add('service', 20, 50, 10)
  add('node-http', 10, 10, 10)
  const text = report(results).join('\n\n')
  // The ratios of the service are 0.5, 0.8 and 2. The ratio of the medians would be 1.
  t.match(text, /^\| 64 connections \| +2\.00 \(1\.50-3\.00\) \| +1\.00 \(1\.00-1\.00\) \| +0\.80 \(0\.65-1\.40\) \|$/m)
  t.match(text, /^\| 64 connections \| +10\.0 \| +20\.0 \| +20\.0 \|$/m)
  t.match(text, /^node:http {5}█{50} 100,000$/m)
  t.match(text, /^this service {2}█{25} 50,000$/m)
})

t.test('the figures replace those between the markers of the page', async (t) => {
  const page = `${t.testdir()}/page.md`
  const [begin, end] = ['[//]: # (begin of the figures)', '[//]: # (end of the figures)']
  writeFileSync(page, `before\n${begin}\nold\n${end}\nafter\n`)
  await writeFigures(page, 'new')
  t.equal(readFileSync(page, 'utf8'), `before\n${begin}\n\nnew\n\n${end}\nafter\n`)
  writeFileSync(page, 'before')
  await t.rejects(writeFigures(page, 'new'), { message: /page\.md has no lines "/ })
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
  await t.rejects(assertWorks({ contender: 'fastify', port }, 'plants'), {
    message: /^fastify responds to a plant with 503/,
  })
})

t.test('the figures of wrk are parsed', async (t) => {
  const output = 'Running 1s test\n  1 threads\nfigures 1000 10 2 2000000 1500 2500 9000\n'
  t.same(parseWrk(output), { answers: 990, errors: 12, seconds: 2, p50: 1.5, p99: 2.5, max: 9 })
  t.throws(() => parseWrk('unable to connect'), { message: /^wrk printed no figures: unable to connect/ })
})

t.test(
  'the command measures peers and prints their ratios',
  { skip: !hasCores && 'NOT RUN: taskset is missing' },
  async (t) => {
    const args = ['--rounds=1', '--seconds=1', '--groups=4', '--only=node-http,fastify']
    const { code, stdout } = await run(t, 'scripts/benchmark.ts', {}, args).ended
    t.equal(code, 0)
    for (const shape of ['100 operations', 'start, 100 operations', 'first request, 100 operations']) {
      const cells = `\\| ${shape} +\\| +`
      t.match(stdout, new RegExp(`^${cells}\\d+\\.\\d\\d \\(.*\\) \\| +1\\.00 \\(1\\.00-1\\.00\\) \\|$`, 'm'), shape)
      t.match(stdout, new RegExp(`^${cells}\\d+\\.\\d+ \\| +\\d+\\.\\d+ \\|$`, 'm'), shape)
    }
  },
)
