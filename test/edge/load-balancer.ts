import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { until, within } from 'fastify-contract-test-support/poll'
import type { Instance } from './instance-pair.ts'
import { type Client, newClient } from './keep-alive-client.ts'
import { type Load, newTally } from './response-tally.ts'

/** Interval between two health checks of an instance (ms). */
const checkInterval = 100

export type Balancer = Load & {
  /** Returns the number of requests that were not sent because no instance was ready. */
  unroutable(): number
  /** Resolves when a health check that started after this call finds the instance ready. */
  seesReady(instance: Instance): Promise<void>
}

/** `checkedAt` is the start of the latest completed health check, in milliseconds of `performance.now()`. */
type Target = Instance & { ready: boolean; checkedAt: number; idle: Client[] }

/**
 * Starts a load balancer and its clients. It sends requests round-robin to the instances whose /readyz responds with
 * 200, over keep-alive connections, and never retries a request.
 *
 * @param pause Milliseconds between a response and the next request of a client.
 */
export function startBalancer(instances: Instance[], token: string, clients: number, pause: number): Balancer {
  const targets: Target[] = instances.map((instance) => ({ ...instance, ready: false, checkedAt: 0, idle: [] }))
  const tally = newTally()
  let [stopped, turn, unroutable] = [false, 0, 0]

  const check = async (target: Target) => {
    while (!stopped) {
      const began = performance.now()
      target.ready = await isReady(target.managementPort)
      target.checkedAt = began
      await sleep(checkInterval)
    }
  }
  const next = (): Target | undefined => {
    const ready = targets.filter((target) => target.ready)
    return ready[turn++ % ready.length]
  }
  const send = async (target: Target) => {
    const client = target.idle.pop() ?? newClient(target.port, token)
    tally.add(await client.create())
    target.idle.push(client)
  }
  const run = async () => {
    while (!stopped) {
      const target = next()
      if (target === undefined) unroutable++
      else await send(target)
      await sleep(pause)
    }
  }
  const seesReady = async ({ port }: Instance) => {
    const called = performance.now()
    const target = targets.find((one) => one.port === port) as Target
    await until(() => target.ready && target.checkedAt >= called, `a ready instance on port ${port}`)
  }

  const checking = targets.map(check)
  const running = Promise.all(targets.map(seesReady)).then(() => Promise.all(Array.from({ length: clients }, run)))
  return {
    tally,
    unroutable: () => unroutable,
    seesReady,
    async stop() {
      stopped = true
      await within(Promise.all([running, ...checking]), 'the last responses')
      for (const client of targets.flatMap(({ idle }) => idle)) client.close()
    },
  }
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1', path: '/readyz', agent: false, timeout: 1_000 }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
      .on('timeout', () => resolve(false))
      .on('error', () => resolve(false))
  })
}
