import type { StoredPlant } from './plant-store.ts'

/** A row of the table of plants, in any database. */
export type PlantRow<Id = bigint> = { id: Id; name: string; tag: string | null }

/** Characters or bytes of text after which a page of a list ends, so that large plants make short pages. */
export const pageSize = 2 ** 20

/** Returns the plant of a row. */
export const plantOf = ({ id, name, tag }: PlantRow): StoredPlant => (tag === null ? { id, name } : { id, name, tag })
