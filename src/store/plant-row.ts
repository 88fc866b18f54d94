import type { StoredPlant } from './plant-store.ts'

/** A row of the table plants, in any database. */
export type PlantRow<Id = bigint> = { id: Id; name: string; tag: string | null }

/**
 * A page of a list ends with the plant whose text reaches this size: characters, or bytes where the engine counts
 * bytes.
 */
export const maxPageSize = 2 ** 20

/** Converts a row to a plant. */
export const plantFromRow = ({ id, name, tag }: PlantRow): StoredPlant =>
  tag === null ? { id, name } : { id, name, tag }
