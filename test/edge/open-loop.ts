import { until } from 'fastify-contract-test-support/poll'
import { type Client, newClient } from './keep-alive-client.ts'
import { type Load, newTally } from './response-tally.ts'

export type OpenLoad = {
  port: number
  token: string
  /** Requests per second, whatever their results. */
  rate: number
  /** Maximum number of connections; a request that finds none free is dropped. */
  connections: number
}

/** Starts requests that arrive at a fixed rate, as from an unlimited number of clients. */
export function startOpenLoad({ port, token, rate, connections }: OpenLoad): Load {
  const tally = newTally()
  const free: Client[] = Array.from({ length: connections }, () => newClient(port, token))
  const all = [...free]
  const start = performance.now()
  let [due, underWay] = [0, 0]
  const send = async (client: Client) => {
    underWay++
    tally.add(await client.create())
    underWay--
    free.push(client)
  }
  const timer = setInterval(() => {
    for (const until = ((performance.now() - start) * rate) / 1_000; due < until; due++) {
      const client = free.pop()
      if (client !== undefined) void send(client)
    }
  }, 1)
  return {
    tally,
    async stop() {
      clearInterval(timer)
      await until(() => underWay === 0, 'the last responses')
      for (const client of all) client.close()
    },
  }
}
