import { randomBytes } from 'node:crypto'
import type { PlantRow } from './plant-row.ts'
import type { StoredPlant } from './plant-store.ts'
import type { CreateRow, Dialect } from './postgres-dialect.ts'
import { insertLiteral, insertNone, insertPlants, newRow } from './postgres-insert.ts'
import type { Primary } from './postgres-primary.ts'
import { untilDone } from './postgres-retry.ts'

const select = 'SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[])'

/**
 * The statements that each PostgreSQL-compatible engine documents (docs/distributed-sql.md). A transaction each, so that
 * the SELECT has what was committed after the snapshot of the INSERT. What was there needs no lock: an engine that
 * replicates shows only rows that are replicated.
 */
export const portableDialect: Dialect = {
  // Spanner allows 950 parameters, so 316 rows; each number of rows is a statement of its own to a cache of plans.
  batchItems: 300,

  async create(query, plants) {
    const inserted = await insertPlants(query, plants)
    if (inserted.size === plants.length) return plants.map(newRow)
    return await readBack(query, plants, inserted)
  },

  check: insertNone,

  /**
   * Aurora DSQL has no savepoints, and PGAdapter commits nothing after a rollback to one. So the plant is deleted, but
   * only when it is that of the probe, which its name tells.
   */
  probe(id) {
    const name = `probe ${randomBytes(16).toString('hex')}`
    return `BEGIN; ${insertLiteral(id, name)}; DELETE FROM plants WHERE id = ${id} AND name = '${name}'; COMMIT`
  },
}

/**
 * Returns the rows of plants of which some were there. The row decides who won, and RETURNING only tells a new plant from
 * one that was there with the same texts: Spanner's emulator returns as many ids as there are new rows, but the last
 * ones of the statement. Where an id that was returned has the row of another plant, a row with the own texts is new.
 */
async function readBack(query: Primary['query'], plants: StoredPlant[], inserted: Set<string>): Promise<CreateRow[]> {
  const ids = plants.map(({ id }) => id)
  // Tried again by itself: a second INSERT would no longer tell which plants were new.
  const rows = await untilDone(() => query<PlantRow<string>>(select, [ids]))
  const given = new Map(plants.map((plant) => [String(plant.id), plant]))
  const compared = rows.map((row) => {
    const { name, tag = null } = given.get(row.id) as StoredPlant
    return { row, isOwn: row.name === name && row.tag === tag, isInserted: inserted.has(row.id) }
  })
  const isExact = compared.every(({ isOwn, isInserted }) => isOwn || !isInserted)
  return compared.map(({ row, isOwn, isInserted }) => ({ ...row, created: isOwn && (isInserted || !isExact) }))
}
