import { setTimeout as sleep } from 'node:timers/promises'
import type { CreateOutcome, PlantStore, StoredPlant } from '../store/plant-store.ts'
import type { ImportTally } from './import-tally.ts'

/**
 * The most attempts to create a plant while the store is unavailable, a second apart: a failover may take that long.
 */
const attempts = 30

type Creating = { store: Pick<PlantStore, 'create'>; tally: ImportTally; interrupt: AbortSignal }

/**
 * Creates plants concurrently and adds their outcomes to the tally. Rejects with the first error once every create is
 * settled.
 */
export async function createBatch(plants: StoredPlant[], { store, tally, interrupt }: Creating): Promise<void> {
  const creates = plants.map(async (plant) => {
    tally.add(plant.id, await createWithRetries(store, plant, interrupt))
  })
  await Promise.allSettled(creates)
  await Promise.all(creates)
}

async function createWithRetries(
  store: Pick<PlantStore, 'create'>,
  plant: StoredPlant,
  interrupt: AbortSignal,
  left = attempts,
): Promise<CreateOutcome> {
  try {
    return await store.create(plant)
  } catch (error) {
    const { retryAfter } = error as Error & { retryAfter?: number }
    if (retryAfter === undefined || left === 1 || interrupt.aborted) throw error
    await sleep(1_000 * retryAfter)
    return await createWithRetries(store, plant, interrupt, left - 1)
  }
}
