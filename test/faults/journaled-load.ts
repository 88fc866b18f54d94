import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { plantOf } from './generated-plants.ts'
import { type Journal, newJournal, type Outcome } from './outcomes.ts'
import { requestPlant } from './plant-request.ts'

export type Load = {
  /** In the order in which requests ended; grows while the load runs. */
  outcomes: Outcome[]
  journal: Journal
  /** Resolves when every request has its outcome: after `stop`, or at the end of the ids. */
  finished: Promise<void>
  /** Stops sending; resolves with `finished`. */
  stop(): Promise<void>
}

export type LoadOptions = {
  /** Ids of the plants to create; the load ends after the last one. */
  ids: Iterable<bigint>
  /** Default: an empty one. */
  journal?: Journal
  /** Number of keep-alive connections, each with one request in flight. */
  connections?: number
  /** Client timeout (ms); the outcome is then ETIMEDOUT. */
  patience?: number
}

/** Creates plants as fast as the service responds and keeps a journal of the acknowledged ones. */
export function startLoad(port: number, options: LoadOptions): Load {
  const { journal = newJournal(), connections = 64, patience = 30_000 } = options
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const ids = options.ids[Symbol.iterator]()
  const outcomes: Outcome[] = []
  let stopped = false

  const client = async () => {
    for (let next = ids.next(); !stopped && !next.done; next = ids.next()) {
      const id = next.value
      journal.sent.add(id)
      const sentAt = Date.now()
      const { status, flaw } = await requestPlant(plantOf(id), { port, agent, timeout: patience })
      outcomes.push({ id, sentAt, endedAt: Date.now(), status, flaw })
      if (status === 200) journal.acknowledged.add(id)
      // Back off, so that a service that rejects requests does not spend its time on rejections.
      else await sleep(5)
    }
  }
  const finished = Promise.all(Array.from({ length: connections }, client)).then(() => agent.destroy())
  const stop = () => {
    stopped = true
    return finished
  }
  return { outcomes, journal, finished, stop }
}
