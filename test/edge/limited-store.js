import { setTimeout as sleep } from 'node:timers/promises'
import { anyStore } from '../support/any-store.js'

/** Number of concurrent creates, and duration of each (ms): a capacity of 1,000 creates per second. */
const [concurrency, latency] = [20, 20]

/** Opens a store with the capacity of a remote database; further creates wait in a queue. */
export async function open() {
  const waiting = []
  let running = 0
  const next = () => {
    running--
    waiting.shift()?.()
  }
  return anyStore({
    async create() {
      if (running >= concurrency) await new Promise((resolve) => waiting.push(resolve))
      running++
      await sleep(latency)
      next()
      return 'created'
    },
  })
}
