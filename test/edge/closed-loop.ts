import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { newTally, type Tally } from './answer-tally.ts'
import { type Client, newClient } from './keep-alive-client.ts'

export type Load = {
  tally: Tally
  /** Sends nothing more; resolves when every request has its answer. */
  stop(): Promise<void>
}

export type ClosedLoad = {
  port: number
  token: string
  /** How many there are, each with one request at a time. */
  clients: number
  /** What they do when they are refused: wait as long as they are told, or send again at once. */
  refused: 'wait' | 'again'
  /** Milliseconds between an answer and the next request; default 0. */
  pause?: number
}

/** Clients that each wait for an answer before they send again. */
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
      await finished
    },
  }
}

export type OpenLoad = {
  port: number
  token: string
  /** Requests in a second, whatever becomes of them. */
  rate: number
  /** Connections, at most; a request that finds none free is not sent. */
  connections: number
}

/** Requests that come at their own rate, as from clients without number. */
export function startOpenLoad({ port, token, rate, connections }: OpenLoad): Load & { unsent(): number } {
  const tally = newTally()
  const free: Client[] = Array.from({ length: connections }, () => newClient(port, token))
  const all = [...free]
  const start = performance.now()
  let [due, unsent, underWay] = [0, 0, 0]
  const send = async (client: Client) => {
    underWay++
    tally.add(await client.create())
    underWay--
    free.push(client)
  }
  const timer = setInterval(() => {
    for (const until = ((performance.now() - start) * rate) / 1_000; due < until; due++) {
      const client = free.pop()
      if (client === undefined) unsent++
      else void send(client)
    }
  }, 1)
  return {
    tally,
    unsent: () => unsent,
    async stop() {
      clearInterval(timer)
      while (underWay > 0) await sleep(10)
      for (const client of all) client.close()
    },
  }
}
