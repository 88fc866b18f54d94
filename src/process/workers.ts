import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/read-config.ts'
import { createMetrics } from '../observability/metrics.ts'
import type { Routes } from '../openapi/routes.ts'
import { aggregateMetrics } from './aggregated-metrics.ts'
import { distributeConnections } from './connection-distributor.ts'
import type { Service } from './service-instance.ts'
import { beforeExit, grace } from './shutdown.ts'
import { forkWorker, type WorkerProcess } from './worker-process.ts'

/** Milliseconds before an exited worker is replaced: a worker that fails at start must not use up the CPU. */
const restartDelay = 1_000

const ignore = () => {}

/**
 * Returns the service as `config.workers` processes on one port; `listen` starts them. A worker that exits later is
 * replaced. `close` rejects if a worker does not exit cleanly.
 */
export async function openWorkers(config: Config, routes: Routes): Promise<Service> {
  const own = createMetrics(routes.info)
  const figures = aggregateMetrics(own.figures)
  const connections = distributeConnections(config.limits.connections * config.workers, () =>
    own.refused('connections'),
  )
  /** The worker in each slot (0 to `config.workers` - 1); an exited one stays until its successor is started. */
  let workers: WorkerProcess[] = []
  let unready: string | undefined = 'starting'
  let slots: Promise<Error | undefined>[] = []
  const sendAll = (order: 'drain' | 'close') => {
    for (const worker of workers) worker.send({ order })
  }

  /** Replaces the worker in a slot until shutdown. Resolves with the reason if the last one did not exit cleanly. */
  async function supervise(slot: number): Promise<Error | undefined> {
    for (;;) {
      const worker = workers[slot] as WorkerProcess
      const { reason, isClean } = await worker.ended
      figures.keep(worker)
      if (unready === 'draining') return isClean ? undefined : reason
      process.stderr.write(`plant-store: ${reason.message}; starting a replacement\n`)
      await sleep(restartDelay)
      if (unready === 'draining') return
      const successor = forkWorker(config, routes)
      workers[slot] = successor
      successor.serving.then(() => connections.add(successor), ignore)
    }
  }

  beforeExit((done) => {
    for (const worker of workers) worker.disconnect()
    // A stuck worker does not notice the disconnect.
    setTimeout(() => workers.forEach((worker) => void worker.kill()), grace / 2)
    void Promise.all(workers.map(({ ended }) => ended)).then(done)
  })

  return {
    async listen() {
      workers = Array.from({ length: config.workers }, () => forkWorker(config, routes))
      await Promise.all(workers.map(({ serving }) => serving))
      for (const worker of workers) connections.add(worker)
      const url = await connections.listen(config)
      slots = workers.map((_, slot) => supervise(slot))
      unready = undefined
      return url
    },
    async ready() {
      if (unready !== undefined) throw new Error(unready)
      await Promise.all(workers.map((worker) => worker.ask('ready')))
    },
    onReady: own.ready,
    metrics: () => figures.text(workers),
    drain() {
      unready = 'draining'
      sendAll('drain')
    },
    async close() {
      await connections.close()
      sendAll('close')
      const reasons = await Promise.all(slots)
      const reason = reasons.find((reason) => reason !== undefined)
      if (reason !== undefined) throw reason
    },
  }
}
