import type { SchemaStep } from '../../../src/store/schema-step.ts'

/** Backfill of a release that adds a note, the plant's name in upper case; older releases store no note. */
const backfill = { set: 'note = upper(name)', where: 'note IS NULL' }

/** Steps of two releases of the PostgreSQL store: the first expands the schema, the second contracts it. */
export const postgresNote: SchemaStep[] = [
  { version: 2, sql: 'ALTER TABLE plants ADD COLUMN IF NOT EXISTS note text', backfill },
  { version: 3, sql: 'ALTER TABLE plants ADD CONSTRAINT noted CHECK (note IS NOT NULL) NOT VALID', oldest: 2 },
  { version: 4, sql: 'ALTER TABLE plants VALIDATE CONSTRAINT noted', oldest: 2 },
]

/** The same steps for the SQLite store, whose tables must be recreated to add a constraint. */
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
