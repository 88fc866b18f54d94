import type { SchemaStep } from '../../../src/store/schema-step.ts'

/** What a release adds that keeps a note of each plant, its name in capitals; older releases leave the note out. */
const backfill = { set: 'note = upper(name)', where: 'note IS NULL' }

/** The steps of two releases of the PostgreSQL store: the first expands, the second one contracts. */
export const postgresNote: SchemaStep[] = [
  { version: 2, sql: 'ALTER TABLE plants ADD COLUMN IF NOT EXISTS note text', backfill },
  { version: 3, sql: 'ALTER TABLE plants ADD CONSTRAINT noted CHECK (note IS NOT NULL) NOT VALID', oldest: 2 },
  { version: 4, sql: 'ALTER TABLE plants VALIDATE CONSTRAINT noted', oldest: 2 },
]

/** The same of the SQLite store, whose tables get a constraint only when they are made anew. */
export const sqliteNote: SchemaStep[] = [
  { version: 3, sql: 'ALTER TABLE plants ADD COLUMN note TEXT', backfill },
  {
    version: 4,
    sql: `
      CREATE TABLE noted (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT, note TEXT NOT NULL) STRICT;
      INSERT INTO noted SELECT id, name, tag, note FROM plants;
      DROP TABLE plants;
      ALTER TABLE noted RENAME TO plants`,
    oldest: 3,
  },
]
