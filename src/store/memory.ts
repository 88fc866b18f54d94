import type { PlantStore, StoredPlant } from './plant-store.ts'

/**
 * Number of maps. V8 doubles a map at once, which stops the event loop for 30 to 70 ms with millions of plants, and a
 * map has at most 2^24 entries. A map of 10,000 plants doubles within a millisecond.
 */
const mapBits = 10

/** Returns a number from 0 to 1,023 that spreads ids evenly, also those that differ only in some of their bits. */
export const mapIndexOf = (number: number): number =>
  // 2^32 divided by the golden ratio, so that each bit of the id changes the upper bits of the product.
  Math.imul((number | 0) ^ (number / 2 ** 32), 0x9e3779b1) >>> (32 - mapBits)

/** Opens a store that loses its plants when the process ends, for tests and for trying the service. */
export function openMemory(): PlantStore {
  type Plants = Map<bigint | number, { name: string; tag: string | undefined }>
  const maps: Plants[] = Array.from({ length: 1 << mapBits }, () => new Map())
  let closed = false
  const assertOpen = () => {
    if (closed) throw new Error('the store is closed')
  }
  return {
    async create({ id, name, tag }: StoredPlant) {
      assertOpen()
      const number = Number(id)
      // A map finds a number in less time than a bigint, which it must read from the heap.
      const key = Number.isSafeInteger(number) ? number : id
      const plants = maps[mapIndexOf(number)] as Plants
      const kept = plants.get(key)
      if (kept !== undefined) return kept.name === name && kept.tag === tag ? 'identical' : 'conflict'
      plants.set(key, { name, tag })
      return 'created'
    },
    async ready() {
      assertOpen()
    },
    async close() {
      closed = true
    },
  }
}
