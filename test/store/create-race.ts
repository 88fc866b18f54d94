import type { CreateOutcome, PlantStore } from '../../src/store/plant-store.ts'

/** Creates the same ids in all stores at once, with different names and in different orders. */
export async function raceCreates(stores: PlantStore[], ids: number): Promise<Map<string, CreateOutcome[]>> {
  const outcomes = new Map<string, CreateOutcome[]>()
  const creates = stores.flatMap((store, instance) =>
    Array.from({ length: ids }, async (_, n) => {
      const id = BigInt((n * 7_919 * (instance + 1)) % ids)
      const outcome = await store.create({ id, name: `of instance ${instance}` })
      outcomes.set(`${id}`, [...(outcomes.get(`${id}`) ?? []), outcome])
    }),
  )
  await Promise.all(creates)
  return outcomes
}
