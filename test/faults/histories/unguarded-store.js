import { openStore } from 'plant-store/store'

/** Opens a store that looks whether an id is free and then writes, so that two creates can both find it free. */
export async function open(url) {
  const store = await openStore(url.slice(url.indexOf('?') + 1))
  return {
    ...store,
    async create(plant) {
      const kept = await store.get(plant.id)
      if (kept !== undefined) return kept.name === plant.name && kept.tag === plant.tag ? 'identical' : 'conflict'
      await store.create(plant)
      return 'created'
    },
  }
}
