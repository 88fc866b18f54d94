import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { holdsWithin } from 'fastify-contract-test-support/poll'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { type Service, startService } from '../scenarios/built-service.ts'
import type { Fault, FaultOptions } from './fault-options.ts'
import { idsOf } from './generated-plants.ts'
import { startLoad } from './journaled-load.ts'
import { count, isAcknowledged, isUnavailable, newJournal } from './outcomes.ts'
import { type BreakableStore, faults } from './readiness-faults.ts'

/** Milliseconds: deadline for a change of readiness, duration of a fault after it, and interval between two probes. */
const [patience, faultTime, pause] = [30_000, 5_000, 20]

/** Load balancers route by /readyz, so it must reflect whether writes succeed. */
export const readiness: Fault = {
  title: 'creates fail for a while, with and without clients: /readyz reflects it, and probes leave no rows',
  needs: [],
  async run(report, options) {
    for (const [name, open] of Object.entries(faults)) {
      const directory = join(options.directory, name.replaceAll(' ', '-'))
      await mkdir(directory)
      const store = await open(directory).catch((error: Error) => error)
      if (store instanceof Error) report.notRun(`what the fault "${name}" needs: ${store.message}`)
      else await run(report, name, store, options)
    }
  },
}

async function run(report: Report, name: string, store: BreakableStore, { random }: FaultOptions): Promise<void> {
  const service = await startService(store.url)
  const readyz = follow(service)
  const journal = newJournal()
  const ids = idsOf(random, 0)
  for (const connections of store.needsLoad ? [4] : [0, 4]) {
    const named = (figure: string) => `${name}, ${connections === 0 ? 'idle' : 'load'}: ${figure}`
    const load = startLoad(service.port, { ids, journal, connections })
    if (connections > 0) await holdsWithin(patience, () => count(load.outcomes, isAcknowledged) > 100)
    report.zero(named('unready before'), readyz.isReady() ? 0 : 1)
    readyz.forget()

    const broken = performance.now()
    await store.fault()
    await holdsWithin(patience, () => !readyz.isReady())
    report.atMost(named('from the fault to 503 (ms)'), Math.round(performance.now() - broken), patience)
    await sleep(faultTime)
    report.atMost(named('changes until the repair'), readyz.changes(), 1)
    if (connections > 0) report.notZero(named('creates rejected'), count(load.outcomes, isUnavailable))

    const repaired = performance.now()
    await store.repair()
    await holdsWithin(patience, readyz.isReady)
    report.atMost(named('from the repair to 200 (ms)'), Math.round(performance.now() - repaired), patience)
    await sleep(faultTime)
    report.atMost(named('changes in total'), readyz.changes(), 2)
    report.zero(named('unready after'), readyz.isReady() ? 0 : 1)
    await load.stop()
  }
  readyz.stop()
  report.zero(`${name}: exit code`, (await service.stop()).code ?? -1)
  report.zero(`${name}: phantom`, await store.phantoms(journal))
  await store.close()
}

/** Polls /readyz as a load balancer does, but faster. */
function follow(service: Service) {
  let ready = true
  let changes = 0
  let stopped = false
  const asking = async () => {
    while (!stopped) {
      const { status } = await service.page('/readyz').catch(() => ({ status: 0 }))
      if (stopped) return
      if ((status === 200) !== ready) changes++
      ready = status === 200
      await sleep(pause)
    }
  }
  void asking()
  return {
    isReady: () => ready,
    /** Returns the number of changes since the last `forget`. */
    changes: () => changes,
    forget() {
      changes = 0
    },
    stop() {
      stopped = true
    },
  }
}
