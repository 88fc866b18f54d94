/**
 * store-writer.ts MODULE STORE_URL SEED SKIP COUNT CLIENTS
 *
 * Creates COUNT plants of SEED, after the first SKIP, in the store that MODULE opens, with CLIENTS concurrent clients.
 * Writes each id to stdout as soon as the write is acknowledged, which is when a client would get its response.
 */
import { writeSync } from 'node:fs'
import { idsOf, plantOf } from '../generated-plants.ts'
import { randomOf } from '../seeded-random.ts'

const [module = '', url = '', ...numbers] = process.argv.slice(2)
const [seed = 0, skip = 0, count = 0, clients = 0] = numbers.map(Number)
const { openStore } = (await import(module)) as typeof import('../../../src/store/open.ts')
const store = await openStore(url)
const ids = idsOf(randomOf(seed))
for (let skipped = 0; skipped < skip; skipped++) ids.next()
let left = count
const client = async () => {
  while (left-- > 0) {
    const { id, ...rest } = plantOf(ids.next().value)
    await store.create({ id, ...rest })
    writeSync(1, `${id}\n`)
  }
}
await Promise.all(Array.from({ length: clients }, client))
await store.close()
