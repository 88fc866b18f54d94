import type { StoredPlant } from './plant-store.ts'

/** A row of the table plants, in any database. */
export type PlantRow<Id = bigint> = { id: Id; name: string; tag: string | null }

/** Characters or bytes of text after which a page of a list ends, so that large plants fill a page sooner. */
export const maxPageSize = 2 ** 20

/** Converts a row to a plant. */
export const plantFromRow = ({ id, name, tag }: PlantRow): StoredPlant =>
  tag === null ? { id, name } : { id, name, tag }
