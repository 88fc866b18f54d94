import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { assertWorks, replyBody } from '../../scripts/benchmark/acceptance.ts'
import { chart } from '../../scripts/benchmark/chart.ts'
import { contendersWith, only } from '../../scripts/benchmark/contenders.ts'
import { openLoad } from '../../scripts/benchmark/http-load.ts'
import type { Figures } from '../../scripts/benchmark/measure-contender.ts'
import { cyclingIds, growingIds } from '../../scripts/benchmark/plant-ids.ts'
import { summarize } from '../../scripts/benchmark/results.ts'
import { slope } from '../../scripts/benchmark/statistics.ts'
import { createService, token } from '../support/service.ts'

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
const figures: Figures = { rate: 9, cpu: 20, p50: 1, p99: 2, errors: 0, busy: 1, waited: 0 }

t.test('the peers have exact versions, which equal those of the service', async (t) => {
  const { dependencies } = read('scripts/benchmark/peers/package.json')
  const own = read('package.json').dependencies
  for (const [name, version] of Object.entries(dependencies)) {
    t.match(version, /^\d+\.\d+\.\d+$/, name)
    t.equal(version, own[name] ?? version, name)
  }
  const lock = read('scripts/benchmark/peers/package-lock.json')
  t.same(lock.packages[''].dependencies, dependencies)
  t.notMatch(readFileSync('scripts/benchmark/peers/package-lock.json', 'utf8'), /"resolved"/)
})

t.test('the load counts correct answers only', async (t) => {
  const port = await serve(t, (request, response) => {
    request.resume().on('end', () => {
      response.write(replyBody.slice(0, 9))
      setTimeout(() => response.end(replyBody.slice(9)), 5)
    })
    response.setHeader('content-length', replyBody.length)
  })
  const right = await measure(t, port)
  t.ok(right.answers > 3)
  t.equal(right.errors, 0)
  t.ok(right.p50 >= 4 && right.p99 >= right.p50)
  for (const [status, body] of [
    [200, replyBody.replace('indoor', 'indoors')],
    [503, replyBody],
    [503, ''],
  ] as const) {
    const wrong = await measure(
      t,
      await serve(t, (_request, response) => response.writeHead(status, { 'content-length': body.length }).end(body)),
    )
    t.equal(wrong.answers, 0)
    t.ok(wrong.errors > 3)
  }
  const gone = await measure(t, await serve(t, (request) => request.socket.destroy()))
  t.equal(gone.answers, 0)
  t.ok(gone.errors > 1)
})

t.test('a fixed rate is kept, and a stall shows in the latency', async (t) => {
  let stalled = false
  const port = await serve(t, (request, response) => {
    request.resume().on('end', () => {
      const delay = stalled ? 0 : 150
      stalled = true
      setTimeout(() => response.end(replyBody), delay)
    })
    response.setHeader('content-length', replyBody.length)
  })
  const load = openLoad({ port, token, connections: 1, ids: growingIds(), rate: 100 })
  t.teardown(load.close)
  const { answers, seconds, p99 } = await load.measure(0.25)
  t.ok(answers <= 100 * seconds + 1, `${answers} answers in ${seconds} s`)
  t.ok(p99 > 100, 'requests that were due during the stall waited')
})

t.test('ids cycle or grow', async (t) => {
  const [cycling, growing] = [cyclingIds(2), growingIds()]
  t.same([cycling(), cycling(), cycling()], [1, 0, 1])
  t.same([growing(), growing(), growing()], [1, 2, 3])
})

t.test('a server that skips part of the work fails the acceptance check', async (t) => {
  await t.resolves(assertWorks('plant-store', await (await createService(t)).listen(), token))
  const port = await serve(t, (_request, response) => response.end(replyBody))
  await t.rejects(assertWorks('lazy', port, token), { message: /^lazy answers another plant of that id with 200/ })
})

t.test('a ratio is the median of the ratios of each round', async (t) => {
  const rounds = (...costs: number[]) => costs.map((cpu) => ({ ...figures, cpu }))
  const measured = new Map([
    ['fastify', rounds(20, 40, 20)],
    ['memory', rounds(10, 80, 20)],
  ])
  const { contenders } = summarize(measured, (key) => key, { seconds: 1, connections: 1 })
  t.match(contenders[1], { cpu: 20, cpuRange: [10, 80], toFastify: 1, toNodeHttp: undefined })
})

t.test('the chart shows every contender', async (t) => {
  const measured = new Map([
    ['fastify', [figures]],
    ['memory', [{ ...figures, cpu: 10 }]],
  ])
  const names: Record<string, string> = { fastify: 'Fastify', memory: 'a <service> & more' }
  const svg = chart(summarize(measured, (key) => names[key] as string, { seconds: 5, connections: 64 }))
  t.match(svg, />a &lt;service> &amp; more</)
  t.match(svg, />50,000</)
  t.match(svg, />100,000</)
  t.match(svg, /prefers-color-scheme: dark/)
})

t.test('the slope is that of the least squares line', async (t) => {
  t.equal(
    slope([
      [0, 5],
      [1, 7],
      [2, 9],
    ]),
    2,
  )
})

t.test('--only selects contenders by name', async (t) => {
  const all = contendersWith({ sqlite: '', postgres: async () => '' })
  t.same(Object.keys(only(all, 'memory,fastify')), ['memory', 'fastify'])
  t.equal(only(all, undefined), all)
  t.throws(() => only(all, 'memory,koa'), { message: /^--only koa: allowed are node-http, fastify, / })
})

async function serve(t: Test, listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

async function measure(t: Test, port: number) {
  const load = openLoad({ port, token, connections: 2, ids: growingIds() })
  t.teardown(load.close)
  return await load.measure(0.3)
}
