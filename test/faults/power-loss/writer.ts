/**
 * writer.ts MODULE STORE_URL SEED COUNT
 *
 * Creates plants at the store that MODULE opens, 64 at a time, and writes the id of each to stdout the moment it is
 * created: what a client would have been told.
 */
import { writeSync } from 'node:fs'
import { idsOf, plantOf } from '../plants.ts'
import { randomOf } from '../random.ts'

const [module = '', url = '', seed, count] = process.argv.slice(2)
const { openStore } = (await import(module)) as typeof import('../../../src/store/open.ts')
const store = await openStore(url)
const ids = idsOf(randomOf(Number(seed)))
let left = Number(count)
const client = async () => {
  while (left-- > 0) {
    const { id, ...rest } = plantOf(ids.next().value)
    await store.create({ id, ...rest })
    writeSync(1, `${id}\n`)
  }
}
await Promise.all(Array.from({ length: 64 }, client))
await store.close()
