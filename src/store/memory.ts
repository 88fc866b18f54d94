import type { PlantStore, StoredPlant } from './plant-store.ts'

/** Opens a store that loses its plants when the process ends, for tests and for trying the service. */
export function openMemory(): PlantStore {
  // A map finds a number in less time than a bigint, which it must read from the heap.
  const plants = new Map<bigint | number, { name: string; tag: string | undefined }>()
  let closed = false
  const assertOpen = () => {
    if (closed) throw new Error('the store is closed')
  }
  return {
    async create({ id, name, tag }: StoredPlant) {
      assertOpen()
      const number = Number(id)
      const key = Number.isSafeInteger(number) ? number : id
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
