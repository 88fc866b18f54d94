import type { PlantStore, StoredPlant } from './plant-store.ts'

/** Opens a store that loses its plants when the process ends, for tests and for trying the service. */
export function openMemory(): PlantStore {
  const plants = new Map<bigint, { name: string; tag: string | undefined }>()
  let closed = false
  const assertOpen = () => {
    if (closed) throw new Error('the store is closed')
  }
  return {
    async create({ id, name, tag }: StoredPlant) {
      assertOpen()
      const kept = plants.get(id)
      if (kept !== undefined) return kept.name === name && kept.tag === tag ? 'identical' : 'conflict'
      plants.set(id, { name, tag })
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
