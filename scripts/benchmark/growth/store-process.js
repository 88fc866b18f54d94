/*
 * A process with a store: opens it, creates plants with the ids from `from` up to `to`, then some more one after the
 * other, and prints its figures as JSON. Arguments: the built module of the stores, STORE_URL, from, to.
 */
import { memoryUsage } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

const [module, url, ...ids] = process.argv.slice(2)
const [from, to] = ids.map(Number)
/** Plants that are created at the same time. */
const wave = 10_000
const lone = 1_000
/** Ids that no earlier process has created begin here. */
const newIds = -1_000 * Date.now()
const plant = (id) => ({ id: BigInt(id), name: `Monstera deliciosa ${id}`, tag: 'indoor' })

const begin = performance.now()
const { openStore } = await import(module)
const store = await openStore(url)
await store.create(plant(newIds))
const start = performance.now() - begin

const filling = performance.now()
for (let id = from; id < to; id += wave) {
  const plants = Array.from({ length: Math.min(wave, to - id) }, (_, n) => plant(id + n))
  await Promise.all(plants.map((each) => store.create(each)))
  // Lets this process collect garbage and publish metrics, as between the requests of clients.
  await sleep(0)
}
const create = to > from ? (1_000 * (performance.now() - filling)) / (to - from) : undefined

const times = []
for (let n = 1; n <= lone; n++) {
  const since = performance.now()
  await store.create(plant(newIds + n))
  times.push(performance.now() - since)
}
const loneCreate = times.sort((a, b) => a - b)[lone / 2]
globalThis.gc()
console.log(JSON.stringify({ start, create, loneCreate, memory: memoryUsage.rss() / 2 ** 20 }))
await store.close()
