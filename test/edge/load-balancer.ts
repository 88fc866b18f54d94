import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { newTally, type Tally } from './answer-tally.ts'
import { type Client, newClient } from './keep-alive-client.ts'

/** Milliseconds between two looks at an instance. */
const interval = 100

export type Instance = { port: number; managementPort: number }

export type Balancer = {
  tally: Tally
  /** How many requests found no instance that was ready; they are failures of `tally`, too. */
  nowhere(): number
  /** Resolves when the balancer has seen that this instance is ready, or has not for 30 seconds. */
  seen(instance: Instance): Promise<void>
  /** Sends nothing more; resolves when every request has its answer. */
  stop(): Promise<void>
}

type Target = Instance & { ready: boolean; idle: Client[] }

/**
 * Sends requests as a load balancer does: in turns to the instances whose /readyz says so, over connections that are
 * kept, and each of them once.
 */
export function startBalancer(instances: Instance[], token: string, clients: number, pause: number): Balancer {
  const targets: Target[] = instances.map((instance) => ({ ...instance, ready: false, idle: [] }))
  const tally = newTally()
  let [stopped, turn, nowhere] = [false, 0, 0]

  const look = async (target: Target) => {
    while (!stopped) {
      target.ready = await isReady(target.managementPort)
      await sleep(interval)
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
      if (target === undefined) nowhere++
      else await send(target)
      await sleep(pause)
    }
  }

  const looking = targets.map(look)
  const running = Promise.all(targets.map((target) => seen(target))).then(() =>
    Promise.all(Array.from({ length: clients }, run)),
  )
  async function seen({ port }: Instance): Promise<void> {
    const target = targets.find((one) => one.port === port) as Target
    for (const end = Date.now() + 30_000; !target.ready && Date.now() < end; ) await sleep(10)
  }
  return {
    tally,
    nowhere: () => nowhere,
    seen,
    async stop() {
      stopped = true
      await Promise.all([running, ...looking])
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
