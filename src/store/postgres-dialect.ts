import type { PlantRow } from './plant-row.ts'
import type { StoredPlant } from './plant-store.ts'
import type { Primary } from './postgres-primary.ts'

type Query = Primary['query']

/** A row for the outcome of a create: a new plant, without its name and tag, or the plant that existed. */
export type CreateRow = Omit<PlantRow<string>, 'name'> & { name: string | null; created: boolean }

/** The statements that create plants on one kind of server. All kinds share the queries. */
export type Dialect = {
  /** The most plants of one batch. */
  batchItems: number
  /**
   * Inserts those of the plants that are new. Their ids are distinct and ascending. Resolves with a row for each plant.
   * A plant has no row when it lost against a transaction whose commit was not visible yet; it must be created again.
   */
  create(query: Query, plants: StoredPlant[]): Promise<CreateRow[]>
  /** Rejects when the table is missing or lacks what `create` needs. */
  check(query: Query): Promise<unknown>
  /** Returns the statements that create a plant with this id and remove it again, in one committed transaction. */
  probe(id: bigint): string
}
