import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import { startService, token } from '../scenarios/built-service.ts'
import { startClosedLoad } from './closed-loop.ts'
import { idle, notReading, type SlowClient, silent, slowBody, slowHeaders } from './slow-clients.ts'

/** Timeouts (ms), short enough for one run to reach all of them. */
const limits = { HEADERS_TIMEOUT: 3_000, REQUEST_TIMEOUT: 5_000, KEEP_ALIVE_TIMEOUT: 4_000, HANDLER_TIMEOUT: 1_000 }

/** Number of clients of each kind, and the timeout that closes their connections. */
const kinds: Record<string, { count: number; client: SlowClient; limit: number }> = {
  silent: { count: 250, client: silent, limit: limits.HEADERS_TIMEOUT },
  'slow headers': { count: 250, client: slowHeaders, limit: limits.HEADERS_TIMEOUT },
  'slow body': { count: 250, client: slowBody, limit: limits.REQUEST_TIMEOUT },
  idle: { count: 230, client: idle, limit: limits.KEEP_ALIVE_TIMEOUT },
  'not reading': { count: 20, client: notReading, limit: limits.REQUEST_TIMEOUT + limits.HANDLER_TIMEOUT },
}

/** Milliseconds after the timeout within which a connection must be closed. */
const grace = 2_000

/** Duration (ms) of the healthy load without slow clients, for comparison. */
const baseline = 2_000

/** A thousand slow clients are disconnected in time and do not slow down a healthy client. */
export const slow: Scenario = {
  title: '1,000 slow connections next to a healthy client',
  async run(report) {
    const environment = Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, String(value)]))
    const service = await startService('memory:', { environment })
    const healthy = { port: service.port, token, clients: 4, refused: 'again', pause: 20 } as const
    const before = startClosedLoad(healthy)
    await sleep(baseline)
    await before.stop()

    const beside = startClosedLoad(healthy)
    const durations = await Promise.all(
      Object.entries(kinds).map(async ([kind, { count, client, limit }]) => {
        const each = Array.from({ length: count }, () => client(service.port, limit + grace))
        return { kind, count, limit, durations: await Promise.all(each) }
      }),
    )
    await beside.stop()
    await service.stop()

    report.figure('healthy requests alone', before.tally.counts[200] ?? 0)
    report.figure('p99 of healthy requests alone (ms)', before.tally.percentile(99))
    report.notZero('healthy requests next to slow ones', beside.tally.counts[200] ?? 0)
    report.atMost('p99 of healthy requests (ms)', beside.tally.percentile(99), 250)
    report.zero('healthy requests that failed', beside.tally.failed)
    for (const { kind, count, limit, durations: all } of durations) {
      report.figure(`${kind}: connections`, count)
      report.figure(`${kind}: timeout (ms)`, limit)
      report.figure(`${kind}: last disconnect after (ms)`, Math.round(Math.max(...all)))
      report.zero(`${kind}: not disconnected in time`, all.filter((duration) => duration > limit + grace).length)
      report.zero(`${kind}: disconnected too early`, all.filter((duration) => duration < limit - 100).length)
    }
  },
}
