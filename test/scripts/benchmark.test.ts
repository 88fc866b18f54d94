import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { assertWorks } from '../../scripts/benchmark/implementations.ts'
import { sendRequests } from '../../scripts/benchmark/load.ts'
import { addResult, type Results, report } from '../../scripts/benchmark/report.ts'
import { createdPlant, templates } from '../../scripts/benchmark/requests.ts'

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
