import { join } from 'node:path'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import { median } from '../../scripts/benchmark/statistics.ts'
import { type Service, startService, token } from '../scenarios/built-service.ts'
import { startClosedLoad } from './closed-loop.ts'
import { startOpenLoad } from './open-loop.ts'
import { type Measure, measure } from './steady-state.ts'

/** Number of clients that reaches the peak rate; less than 512, the default limit of requests in flight. */
const clients = 400
const factor = 4
const rounds = 3

/** Percent of the peak throughput that must remain: rejections, and more connections, take CPU from responses. */
const remaining = 70

export const overload: Scenario = {
  title: `${factor} times the clients of the peak throughput, on three stores`,
  async run(report, { directory }) {
    const stores = {
      memory: 'memory:',
      SQLite: `sqlite:${join(directory, 'plants.db')}`,
      'slow store': 'module:./test/edge/limited-store.js',
    }
    for (const [name, url] of Object.entries(stores)) {
      const service = await startService(url)
      reportMeasures(report, name, await measureAll(service))
      await service.stop()
    }
  },
}

type Kind = 'peak' | 'patient' | 'stubborn' | 'open'

/** Measures the kinds of load alternately, so that other work of the machine affects all of them alike. */
async function measureAll(service: Service): Promise<Record<Kind, Measure[]>> {
  const { port } = service
  const closed = (count: number, refused: 'wait' | 'again') =>
    measure(service, () => startClosedLoad({ port, token, clients: count, refused }))
  const measures: Record<Kind, Measure[]> = { peak: [], patient: [], stubborn: [], open: [] }
  await closed(clients, 'wait')
  for (let round = 0; round < rounds; round++) {
    const peak = await closed(clients, 'wait')
    const rate = factor * peak.rate
    measures.peak.push(peak)
    measures.patient.push(await closed(factor * clients, 'wait'))
    measures.stubborn.push(await closed(factor * clients, 'again'))
    measures.open.push(await measure(service, () => startOpenLoad({ port, token, rate, connections: 4_000 })))
  }
  return measures
}

function reportMeasures(report: Report, store: string, measures: Record<Kind, Measure[]>): void {
  const peak = median(measures.peak.map(({ rate }) => rate))
  for (const [kind, all] of Object.entries(measures)) {
    const name = `${store}, ${kind}:`
    const sum = (of: (measure: Measure) => number) => all.reduce((total, measure) => total + of(measure), 0)
    const count = (status: string) => sum(({ tally }) => tally.counts[status] ?? 0)
    const rate = median(all.map((measure) => measure.rate))
    report.figure(`${name} 200s per second`, Math.round(rate))
    report.figure(`${name} 200s per CPU second`, Math.round(median(all.map((one) => one.ratePerProcessor))))
    report.figure(`${name} p99 of 200s (ms)`, median(all.map(({ tally }) => tally.percentile(99))))
    report.figure(`${name} rejections`, count('503'))
    report.figure(`${name} CPUs of the load`, Math.max(...all.map((one) => one.loadProcessors)).toFixed(2))
    report.zero(
      `${name} rejections without Retry-After`,
      sum(({ tally }) => tally.withoutRetryAfter),
    )
    const others = new Set(
      all.flatMap(({ tally }) => Object.keys(tally.counts)).filter((key) => !/^(200|503)$/.test(key)),
    )
    report.zero([`${name} other failures`, ...others].join(' '), sum(({ tally }) => tally.failed) - count('503'))
    if (kind === 'peak') continue
    const percent = Math.round((100 * rate) / peak)
    const label = `${name} 200s per second, % of the peak`
    // A rejection costs half as much as a 200, so a CPU saturated at the peak cannot reject three requests per 200.
    if (kind === 'open' && store !== 'slow store') report.figure(label, percent)
    else report.atLeast(label, percent, remaining)
  }
}
