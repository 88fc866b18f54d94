import { openStore } from 'plant-store/store'

/** Opens a defective store that checks whether an id is free and then writes, so two creates can both find it free. */
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
