import { randomBytes } from 'node:crypto'
import type { PlantRow } from './plant-row.ts'
import type { StoredPlant } from './plant-store.ts'
import type { CreateRow, Dialect } from './postgres-dialect.ts'
import { insertLiteral, insertNone, insertPlants, newRow } from './postgres-insert.ts'
import type { Primary } from './postgres-primary.ts'
import { withRetries } from './postgres-retry.ts'

const select = 'SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[])'

/**
 * The statements that every PostgreSQL-compatible engine documents (docs/distributed-sql.md). Each is a transaction of
 * its own, so that the SELECT sees rows committed after the snapshot of the INSERT. Existing rows need no lock: a
 * replicating engine shows only replicated rows.
 */
export const portableDialect: Dialect = {
  // Spanner allows 950 parameters, which is 316 rows. A plan cache holds one statement for each number of rows.
  batchItems: 300,

  async create(query, plants) {
    const inserted = await insertPlants(query, plants)
    if (inserted.size === plants.length) return plants.map(newRow)
    return await readBack(query, plants, inserted)
  },

  check: insertNone,

  /**
   * Deletes the plant of the probe, which it recognizes by its random name. Aurora DSQL has no savepoints, and
   * PGAdapter commits nothing after a rollback to one.
   */
  probe(id) {
    const name = `probe ${randomBytes(16).toString('hex')}`
    return `BEGIN; ${insertLiteral(id, name)}; DELETE FROM plants WHERE id = ${id} AND name = '${name}'; COMMIT`
  },
}

/**
 * Reads the rows of a batch in which some plants existed. The content of a row decides which create won. RETURNING only
 * tells a new plant from an identical one that existed, and may be wrong: Spanner's emulator returns as many ids as
 * there are new rows, but takes the last ids of the statement. The ids are wrong for sure when one of them belongs to a
 * row with other content. Then every row with the content of this create counts as new.
 */
async function readBack(query: Primary['query'], plants: StoredPlant[], inserted: Set<string>): Promise<CreateRow[]> {
  const ids = plants.map(({ id }) => id)
  // Retried separately: a second INSERT would no longer show which plants were new.
  const rows = await withRetries(() => query<PlantRow<string>>(select, [ids]))
  const given = new Map(plants.map((plant) => [String(plant.id), plant]))
  const compared = rows.map((row) => {
    const { name, tag = null } = given.get(row.id) as StoredPlant
    return { row, isOwn: row.name === name && row.tag === tag, isInserted: inserted.has(row.id) }
  })
  const isExact = compared.every(({ isOwn, isInserted }) => isOwn || !isInserted)
  return compared.map(({ row, isOwn, isInserted }) => ({ ...row, created: isOwn && (isInserted || !isExact) }))
}
