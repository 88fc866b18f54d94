import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NewPlant } from '../../src/store/plant-store.ts'
import { token } from '../scenarios/built-service.ts'
import { plantOf } from './generated-plants.ts'

/** What became of one request. Times are milliseconds since the epoch. */
export type Outcome = {
  id: bigint
  sentAt: number
  /** When the whole answer was there, or when the connection failed. */
  endedAt: number
  /** Of the answer, or the code of the connection's error. */
  status: number | string
  /** What the contract forbids in this answer. */
  flaw: string | undefined
}

/** The ids that were sent and those that were answered with 200, over all loads that share it. */
export type Journal = { sent: Set<bigint>; acknowledged: Set<bigint> }

export const newJournal = (): Journal => ({ sent: new Set(), acknowledged: new Set() })

export type Load = {
  /** In the order in which they ended; it grows while the load runs. */
  outcomes: Outcome[]
  /** Resolves when every request has its outcome: after `stop`, or when there are no more ids. */
  finished: Promise<void>
  /** Sends nothing more; resolves as `finished` does. */
  stop(): Promise<void>
}

export type LoadOptions = {
  /** What is created: the plant of each id. A load of a few ids ends with them. */
  ids: Iterable<bigint>
  journal?: Journal
  /** How many keep-alive connections, each with one request at a time. */
  connections?: number
  /** Milliseconds that a client waits for an answer; then its outcome is ETIMEDOUT. */
  patience?: number
}

/** Creates plants at a service on the loopback address, as fast as it answers. */
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
      const { status, flaw } = await create(plantOf(id), { port, agent, timeout: patience })
      outcomes.push({ id, sentAt, endedAt: Date.now(), status, flaw })
      if (status === 200) journal.acknowledged.add(id)
      // A service that refuses is not to be kept busy with refusing.
      else await sleep(5)
    }
  }
  const finished = Promise.all(Array.from({ length: connections }, client)).then(() => agent.destroy())
  const stop = () => {
    stopped = true
    return finished
  }
  return { outcomes, finished, stop }
}

/** Whether an answer is one that no fault excuses: not a 200, not a 503, or not as the contract has it. */
export const isWrong = ({ status, flaw }: Outcome): boolean =>
  flaw !== undefined || (typeof status === 'number' && status !== 200 && status !== 503)

/** How many outcomes there are of each status, and of each flaw. */
export function countOutcomes(outcomes: Outcome[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, flaw } of outcomes) {
    for (const key of flaw === undefined ? [status] : [status, flaw]) counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

type Answer = Pick<Outcome, 'status' | 'flaw'>

function create(plant: NewPlant, options: { port: number; agent: Agent; timeout: number }): Promise<Answer> {
  return new Promise((resolve) => {
    const failed = (error: Error & { code?: string }) =>
      resolve({ status: error.code ?? error.message, flaw: undefined })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = request({ ...options, host: '127.0.0.1', path: '/plants', method: 'POST', headers }, (answer) => {
      const chunks: Buffer[] = []
      answer
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('error', failed)
        .on('end', () => {
          const body = Buffer.concat(chunks).toString()
          resolve({ status: answer.statusCode as number, flaw: flawOf(answer, body, plant) })
        })
    })
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })))
    sent.on('error', failed).end(bodyOf(plant))
  })
}

/** The id is written by hand: JSON.stringify has no integers of 64 bits. */
const bodyOf = ({ id, ...rest }: NewPlant): string => `{"id":${id},${JSON.stringify(rest).slice(1)}`

function flawOf({ statusCode, headers }: IncomingMessage, body: string, plant: NewPlant): string | undefined {
  if (statusCode === 200) {
    const { id: _, ...rest } = plant
    return body === JSON.stringify(rest) ? undefined : '200 with another plant'
  }
  if (statusCode === 503 && !/^\d+$/.test(headers['retry-after'] ?? '')) return '503 without Retry-After'
  return /^\{"error":\d{5},"message":".*"\}$/s.test(body) ? undefined : `${statusCode} without an Error body`
}
