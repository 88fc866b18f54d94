import type { PlantStore, StoredPlant } from './plant-store.ts'

/** Returns the key of an id. A map finds a number in less time than a bigint, which it must read from the heap. */
function keyOf(id: bigint): bigint | number {
  const number = Number(id)
  return Number.isSafeInteger(number) ? number : id
}

/** Opens a store that loses its plants when the process ends, for tests and for trying the service. */
export function openMemory(): PlantStore {
  const plants = new Map<bigint | number, { name: string; tag: string | undefined }>()
  let closed = false
  const assertOpen = () => {
    if (closed) throw new Error('the store is closed')
  }
  return {
    async create({ id, name, tag }: StoredPlant) {
      assertOpen()
      const key = keyOf(id)
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
