import type { CreateOutcome, StoredPlant } from '../plant-store.ts'
import { codeOf, type SqliteDatabase, transaction } from './sqlite-driver.ts'

/**
 * Plants to create in one transaction, as a JSON array of [id, name, tag]. A text crosses threads for less CPU than
 * objects with bigints do. It has no NUL, at which @photostructure/sqlite ends a parameter.
 */
export type PlantBatch = { count: number; json: string }

/** Converts plants to a batch. Ids are written digit by digit, because JSON.stringify rejects bigints. */
export function plantBatch(plants: StoredPlant[]): PlantBatch {
  const rows = plants.map(({ id, name, tag = null }) => `[${id},${JSON.stringify(name)},${JSON.stringify(tag)}]`)
  return { count: plants.length, json: `[${rows.join()}]` }
}

/** Returns a function that creates a batch of plants in one transaction. It throws when none was created. */
export function createCommit(database: SqliteDatabase): (batch: PlantBatch) => CreateOutcome[] {
  // SQLite needs the WHERE to distinguish ON CONFLICT from a join (sqlite.org/lang_upsert.html, 2.2).
  const insert =
    'INSERT INTO plants (id, name, tag) SELECT value->>0, value->>1, value->>2 FROM json_each(?) WHERE true'
  const insertAll = database.prepare(insert)
  const insertNew = database.prepare(`${insert} ON CONFLICT DO NOTHING RETURNING id`)
  // CROSS JOIN keeps the order of the tables, so that SQLite looks up each id of the batch.
  const compare = database.prepare(
    `SELECT plants.id, name = value->>1 AND tag IS value->>2 AS same
     FROM json_each(?) CROSS JOIN plants ON plants.id = value->>0 ORDER BY key`,
  )
  // Also for `run`, which returns the last id.
  for (const statement of [insertAll, insertNew, compare]) statement.setReadBigInts(true)
  /** Creates all plants of a batch, or none when an id is taken. Returns whether it has created them. */
  function createAll(json: string): boolean {
    try {
      insertAll.run(json)
      return true
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_CONSTRAINT_PRIMARYKEY') throw error
      return false
    }
  }
  /** Creates the plants of a batch with new ids, and compares the others. */
  function createNew(json: string): CreateOutcome[] {
    const created = new Set((insertNew.all(json) as { id: bigint }[]).map(({ id }) => id))
    const kept = compare.all(json) as { id: bigint; same: bigint }[]
    // The first of several plants with an id is the created one.
    return kept.map(({ id, same }) => (created.delete(id) ? 'created' : same === 1n ? 'identical' : 'conflict'))
  }
  const createNewInTransaction = transaction(database, 'IMMEDIATE', createNew)
  return ({ count, json }) => (createAll(json) ? new Array(count).fill('created') : createNewInTransaction(json))
}
