import type { CreateOutcome, StoredPlant } from '../plant-store.ts'
import { type SqliteDatabase, transaction } from './sqlite-driver.ts'

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
  const insert = database.prepare(
    `INSERT INTO plants (id, name, tag) SELECT value->>0, value->>1, value->>2 FROM json_each(?) WHERE true
     ON CONFLICT DO NOTHING RETURNING id`,
  )
  // CROSS JOIN keeps the order of the tables, so that SQLite looks up each id of the batch.
  const compare = database.prepare(
    `SELECT plants.id, name = value->>1 AND tag IS value->>2 AS same
     FROM json_each(?) CROSS JOIN plants ON plants.id = value->>0 ORDER BY key`,
  )
  insert.setReadBigInts(true)
  compare.setReadBigInts(true)
  return transaction(database, 'IMMEDIATE', function create({ count, json }: PlantBatch): CreateOutcome[] {
    const created = new Set((insert.all(json) as { id: bigint }[]).map(({ id }) => id))
    if (created.size === count) return new Array(count).fill('created')
    const kept = compare.all(json) as { id: bigint; same: bigint }[]
    // The first of several plants with an id is the created one.
    return kept.map(({ id, same }) => (created.delete(id) ? 'created' : same === 1n ? 'identical' : 'conflict'))
  })
}
