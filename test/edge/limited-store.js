import { setTimeout as sleep } from 'node:timers/promises'

/** Creates under way at once, and how many milliseconds each takes: 1,000 creates in a second. */
const [atOnce, takes] = [20, 20]

/** A store that can do no more than that, as a database that is somewhere else; what comes meanwhile waits in a row. */
export async function open() {
  const waiting = []
  let running = 0
  const next = () => {
    running--
    waiting.shift()?.()
  }
  return {
    async create() {
      if (running >= atOnce) await new Promise((resolve) => waiting.push(resolve))
      running++
      await sleep(takes)
      next()
      return 'created'
    },
    async ready() {},
    async close() {},
  }
}
