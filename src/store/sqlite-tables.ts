import type { Database } from 'better-sqlite3'
import type { Backfill, SchemaState, SchemaStep } from './schema-step.ts'
import type { DatabaseFiles } from './sqlite-files.ts'
import { runSqliteSteps, schemaOf } from './sqlite-schema.ts'

/** The operations of a migration on an open SQLite file. */
export type SqliteTables = {
  read(): SchemaState
  apply(steps: SchemaStep[]): void
  /** Runs a backfill on the plants from one id to another. Returns the number of rows changed. */
  fill(backfill: Backfill, from: bigint, last: bigint): number
}

/** Returns the operations of a migration, each of which throws when the file was removed or replaced. */
export const sqliteTables = (database: Database, guard: DatabaseFiles['guard']): SqliteTables => ({
  read: guard(() => schemaOf(database)),
  apply: guard((steps) => runSqliteSteps(database, steps)),
  fill: guard(({ set, where }, from, last) => {
    const update = database.prepare(`UPDATE plants SET ${set} WHERE id BETWEEN ? AND ? AND (${where})`)
    return update.run(from, last).changes
  }),
})
