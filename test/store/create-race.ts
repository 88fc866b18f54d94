import type { CreateOutcome, PlantStore } from '../../src/store/plant-store.ts'

/** Creates plants with the same ids, but different names, in all stores concurrently. Resolves to outcomes by id. */
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
