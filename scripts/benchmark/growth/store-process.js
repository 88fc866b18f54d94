/*
 * A process with a store: opens it, creates plants with the ids from `from` up to `to`, then some more one after the
 * other, and then some with random ids, and prints its figures as JSON. Arguments: the built module of the stores, STORE_URL, from, to.
 */
import { randomBytes } from 'node:crypto'
import { memoryUsage } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

const [module, url, ...ids] = process.argv.slice(2)
const [from, to] = ids.map(Number)
/** Plants that are created at the same time. */
const wave = 10_000
const lone = 1_000
/** Plants with ids of all 64 bits. They are few, because later figures count them, too. */
const randomIds = 20_000
/** Ids that no earlier process has created begin here. */
const newIds = -1_000 * Date.now()
const plant = (id) => ({ id: BigInt(id), name: `Monstera deliciosa ${id}`, tag: 'indoor' })

const begin = performance.now()
const { openStore } = await import(module)
const store = await openStore(url)
await store.create(plant(newIds))
const start = performance.now() - begin

/** Creates plants in waves. Returns the microseconds of each create; undefined if there are none. */
async function createAll(count, idOf) {
  const begin = performance.now()
  for (let first = 0; first < count; first += wave) {
    const plants = Array.from({ length: Math.min(wave, count - first) }, (_, n) => plant(idOf(first + n)))
    await Promise.all(plants.map((each) => store.create(each)))
    // Lets this process collect garbage and publish metrics, as between the requests of clients.
    await sleep(0)
  }
  return count > 0 ? (1_000 * (performance.now() - begin)) / count : undefined
}

const create = await createAll(to - from, (n) => from + n)

const times = []
for (let n = 1; n <= lone; n++) {
  const since = performance.now()
  await store.create(plant(newIds + n))
  times.push(performance.now() - since)
}
const loneCreate = times.sort((a, b) => a - b)[lone / 2]
globalThis.gc()
const memory = memoryUsage.rss() / 2 ** 20
const randomCreate = await createAll(randomIds, () => randomBytes(8).readBigInt64LE())
console.log(JSON.stringify({ start, create, loneCreate, randomCreate, memory }))
await store.close()
