import type { PlantRow } from './plant-row.ts'
import type { StoredPlant } from './plant-store.ts'
import type { Primary } from './postgres-primary.ts'

type Query = Primary['query']

/** A plant of a create that has an outcome: new, without its texts, or the one that was there. */
export type CreateRow = Omit<PlantRow<string>, 'name'> & { name: string | null; created: boolean }

/** How creates are written for a kind of server. The queries are the same for each. */
export type Dialect = {
  /** The most plants of one batch. */
  batchItems: number
  /**
   * Adds the plants that are new, of distinct and ascending ids, and returns a row for each; none for a plant that lost
   * against a transaction whose commit was not visible yet, which must be asked for again.
   */
  create(query: Query, plants: StoredPlant[]): Promise<CreateRow[]>
  /** Rejects when the table is missing or does not fit `create`. */
  check(query: Query): Promise<unknown>
  /** Returns the statements that create a plant of this id and take it back, in one transaction that is committed. */
  probe(id: bigint): string
}
