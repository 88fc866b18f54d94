import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { assertWorks, plantBody, responseBody } from '../../scripts/benchmark/acceptance.ts'
import { endAfter, evenGaps, poissonGaps } from '../../scripts/benchmark/arrivals.ts'
import { chart } from '../../scripts/benchmark/chart.ts'
import { contendersWith, selectContenders, selectService } from '../../scripts/benchmark/contenders.ts'
import { openLoad } from '../../scripts/benchmark/http-load.ts'
import type { Figures } from '../../scripts/benchmark/measure-contender.ts'
import { cyclingIds, increasingIds } from '../../scripts/benchmark/plant-ids.ts'
import { summarize } from '../../scripts/benchmark/results.ts'
import { median, quartiles, slope } from '../../scripts/benchmark/statistics.ts'
import { luaScript, openWrk, parseWrk, wrkVersion } from '../../scripts/benchmark/wrk.ts'
import { createTestApp, token } from '../support/test-app.ts'

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
      response.write(responseBody.slice(0, 9))
      setTimeout(() => response.end(responseBody.slice(9)), 5)
    })
    response.setHeader('content-length', responseBody.length)
  })
  const right = await measure(t, port)
  t.ok(right.answers > 3)
  t.equal(right.errors, 0)
  t.ok(right.p50 >= 4 && right.p99 >= right.p50)
  for (const [status, body] of [
    [200, responseBody.replace('indoor', 'indoors')],
    [503, responseBody],
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

t.test('a fixed rate is kept, and a stall shows up in the latency', async (t) => {
  let stalled = false
  const port = await serve(t, (request, response) => {
    request.resume().on('end', () => {
      const delay = stalled ? 0 : 150
      stalled = true
      setTimeout(() => response.end(responseBody), delay)
    })
    response.setHeader('content-length', responseBody.length)
  })
  const load = openLoad({ port, token, connections: 1, ids: increasingIds(), gap: evenGaps(100) })
  t.teardown(load.close)
  const { answers, seconds, p99 } = await load.measure(0.25)
  t.ok(answers <= 100 * seconds + 1, `${answers} answers in ${seconds} s`)
  t.ok(p99 > 100, 'requests that were due during the stall waited')
})

t.test('the ids of plants in memory repeat, those of durable plants increase', async (t) => {
  const [cycling, growing] = [cyclingIds(2), increasingIds()]
  t.same([cycling(), cycling(), cycling()], [1, 0, 1])
  t.same([growing(), growing(), growing()], [1, 2, 3])
})

t.test('wrk sends the same requests as the load of this process, and its figures are parsed', async (t) => {
  const script = luaScript('POST / HTTP/1.1\r\ncontent-length: ', 7, undefined)
  t.match(script, /^local id = 6\n/)
  t.match(script, 'id = id + 1\n')
  const [before, after] = plantBody(-1)
    .split('-1')
    .map((text) => JSON.stringify(text))
  t.match(script, `local body = ${before} .. id .. ${after}\n`)
  t.match(script, 'return "POST / HTTP/1.1\\r\\ncontent-length: " .. #body .. "\\r\\n\\r\\n" .. body\n')
  t.match(luaScript('', 1, 10_000), 'id = (id + 1) % 10000\n')
  const output = 'Running 1s test\n  1 threads\nfigures 1000 10 2 2000000 1500 2500 3500 9000\n'
  t.same(parseWrk(output), { answers: 990, errors: 12, seconds: 2, p50: 1.5, p99: 2.5, p999: 3.5, max: 9 })
  t.throws(() => parseWrk('unable to connect'), { message: /^wrk printed no figures: unable to connect/ })
})

t.test(
  'wrk counts responses with status 200, each for a new plant',
  { skip: wrkVersion() === undefined && 'NOT RUN: wrk is not installed' },
  async (t) => {
    const [bodies, statuses] = [new Set<string>(), [200]]
    const port = await serve(t, async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      if (bodies.has(body)) t.fail(`again ${body}`)
      bodies.add(body)
      response.writeHead(statuses[0] as number).end(responseBody)
    })
    const load = openWrk({ port, token, connections: 2, ids: undefined })
    for (const { answers, seconds, p50, max } of [await load.measure(1), await load.measure(1)]) {
      t.ok(answers > 10 && seconds > 0.9 && p50 > 0 && max >= p50)
    }
    statuses[0] = 503
    const refused = await load.measure(1)
    t.equal(refused.answers, 0)
    t.ok(refused.errors > 10)
  },
)

t.test('Poisson arrivals keep the rate, and their gaps are distributed exponentially', async (t) => {
  let seed = 1
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const gap = poissonGaps(5_000, random)
  const gaps = Array.from({ length: 100_000 }, gap)
  const mean = gaps.reduce((sum, each) => sum + each, 0) / gaps.length
  t.ok(Math.abs(mean - 0.2) < 0.002, `${mean} ms`)
  t.ok(Math.abs(median(gaps) - 0.2 * Math.LN2) < 0.002)
  const longer = gaps.filter((each) => each > 0.4).length / gaps.length
  t.ok(Math.abs(longer - Math.exp(-2)) < 0.005, `${longer} longer than twice the mean`)
})

t.test('a schedule ends after its time and tells how many requests were due', async (t) => {
  const { gap, total } = endAfter(30, evenGaps(100))
  t.same([gap(), gap()], [10, 10])
  t.equal(total(), undefined)
  t.equal(gap(), Number.POSITIVE_INFINITY)
  t.equal(total(), 3)
})

t.test('median and quartiles interpolate', async (t) => {
  t.equal(median([3, 1, 2]), 2)
  t.equal(median([4, 1, 2, 3]), 2.5)
  t.same(quartiles([5, 1, 4, 2, 3]), [2, 4])
  t.same(quartiles([1, 2]), [1.25, 1.75])
  t.same(quartiles([7]), [7, 7])
})

t.test('a server that skips part of the work fails the acceptance check', async (t) => {
  await t.resolves(assertWorks('plant-store', await (await createTestApp(t)).listen(), token))
  const port = await serve(t, (_request, response) => response.end(responseBody))
  await t.rejects(assertWorks('lazy', port, token), { message: /^lazy responds to another plant of that id with 200/ })
})

t.test('a ratio is the median of the ratios of each round', async (t) => {
  const rounds = (...costs: number[]) => costs.map((cpu) => ({ ...figures, cpu }))
  const measured = new Map([
    ['fastify', rounds(20, 40, 20)],
    ['memory', rounds(10, 80, 20)],
  ])
  const { contenders } = summarize(measured, (key) => key, { seconds: 1, connections: 1, generator: 'node' })
  t.match(contenders[1], { cpu: 20, cpuQuartiles: [15, 50], toFastify: 1, toNodeHttp: undefined })
})

t.test('the chart shows every contender', async (t) => {
  const measured = new Map([
    ['fastify', [figures]],
    ['memory', [{ ...figures, cpu: 10 }]],
  ])
  const names: Record<string, string> = { fastify: 'Fastify', memory: 'a <service> & more' }
  const svg = chart(
    summarize(measured, (key) => names[key] as string, { seconds: 5, connections: 64, generator: 'wrk 4.1.0' }),
  )
  t.match(svg, />a &lt;service> &amp; more</)
  t.match(svg, />50,000</)
  t.match(svg, />100,000</)
  t.match(svg, /prefers-color-scheme: dark/)
})

t.test('the slope is that of the least-squares line', async (t) => {
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
  t.same(Object.keys(selectContenders(all, 'memory,fastify')), ['memory', 'fastify'])
  t.equal(selectContenders(all, undefined), all)
  t.same(selectService(all, 'sqlite-log'), all['sqlite-log'])
  for (const name of ['fastify', 'memory,sqlite'])
    t.throws(() => selectService(all, name), { message: /must be one contender that is this service/ })
  const built = contendersWith({ sqlite: '', postgres: async () => '' }, '../old')
  t.match(built['before-sqlite-log'], { args: ['../old/dist/server.js'], accessLog: true })
  t.throws(() => selectContenders(all, 'memory,koa'), {
    message: /^--only koa: unknown contender; use node-http, fastify, /,
  })
})

async function serve(t: Test, listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

async function measure(t: Test, port: number) {
  const load = openLoad({ port, token, connections: 2, ids: increasingIds() })
  t.teardown(load.close)
  return await load.measure(0.3)
}
