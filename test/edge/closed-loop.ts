import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { within } from 'fastify-contract-test-support/poll'
import { newClient } from './keep-alive-client.ts'
import { type Load, newTally } from './response-tally.ts'

export type ClosedLoad = {
  port: number
  token: string
  /** Number of clients, each with one request in flight. */
  clients: number
  /** What a client does after a rejection: wait for Retry-After, or send again at once. */
  refused: 'wait' | 'again'
  /** Think time (ms) between a response and the next request; default 0. */
  pause?: number
}

/** Starts clients that each wait for a response before they send the next request. */
export function startClosedLoad({ port, token, clients, refused, pause = 0 }: ClosedLoad): Load {
  const tally = newTally()
  const stopping = new AbortController()
  setMaxListeners(clients, stopping.signal)
  const wait = (milliseconds: number) =>
    sleep(milliseconds, undefined, { signal: stopping.signal }).catch(() => undefined)
  const run = async () => {
    const client = newClient(port, token)
    while (!stopping.signal.aborted) {
      const answer = await client.create()
      tally.add(answer)
      if (answer.retryAfter !== undefined && refused === 'wait') await wait(1_000 * answer.retryAfter)
      // Pace reconnects, so that the load does not spin while nothing listens.
      else if (typeof answer.status === 'string') await wait(10)
      else if (pause > 0) await wait(pause)
    }
    client.close()
  }
  const finished = Promise.all(Array.from({ length: clients }, run))
  return {
    tally,
    async stop() {
      stopping.abort()
      await within(finished, 'the last responses')
    },
  }
}
