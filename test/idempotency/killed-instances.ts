import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../faults/seeded-random.ts'
import { type KeyedClient, keyedClient } from './keyed-client.ts'
import { Instance } from './keyed-process.ts'
import { createOrders, orderIds } from './orders.ts'

export type KilledOptions = {
  /** The URL of a PostgreSQL database, or `sqlite:` with the path of a file. */
  url: string
  /** Number of orders, each with its own key. */
  creates: number
  isTransactional: boolean
  random: Random
  /** The maximum of the random times, in milliseconds, from the start of an instance to a kill. */
  pause: number
  /** Milliseconds after which another instance may take a key over. */
  lease?: number
}

export type KilledFindings = {
  kills: number
  requests: number
  replays: number
  conflicts: number
  /** References with more than one order. */
  twice: number
  /** Acknowledged orders that are not in the database. */
  lost: number
  /** Responses that differ from the first response to their key, or have a status that no fault excuses. */
  wrong: string[]
}

/**
 * Creates orders through two instances over one database, by clients that repeat requests at random, while both instances
 * are killed at random. Resolves when each order is acknowledged.
 */
export async function createWithKills(options: KilledOptions): Promise<KilledFindings> {
  const { url, creates, isTransactional, random, pause, lease = 1_000 } = options
  await createOrders(url)
  const settings = { url, lease, isTransactional }
  const instances = [await Instance.create(settings), await Instance.create(settings)]
  const agent = new Agent({ keepAlive: true })
  const client = keyedClient({ ports: instances.map(({ port }) => port), creates, random, agent })
  let kills = 0
  let isOver = false
  const killAtRandom = async () => {
    while (!isOver) {
      await Promise.all(instances.map((instance) => instance.listens()))
      await sleep(random.below(pause))
      if (isOver) return
      const killed = random.below(4) === 0 ? instances : [instances[random.below(2)] as Instance]
      await Promise.all(killed.map((instance) => instance.kill()))
      kills += killed.length
      for (const instance of killed) instance.start()
    }
  }
  const killing = killAtRandom()
  await client.run()
  isOver = true
  await killing
  await Promise.all(instances.map((instance) => instance.kill()))
  agent.destroy()
  return { kills, ...client.counts, wrong: client.wrong, ...(await compareRows(url, client)) }
}

async function compareRows(
  url: string,
  { acknowledged }: KeyedClient,
): Promise<Pick<KilledFindings, 'twice' | 'lost'>> {
  const found = await orderIds(url)
  let lost = 0
  for (const [reference, id] of acknowledged) if (found.get(reference)?.includes(id) !== true) lost++
  return { twice: [...found.values()].filter((ids) => ids.length > 1).length, lost }
}
