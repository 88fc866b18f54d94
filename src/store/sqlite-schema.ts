import { closeSync, openSync, readSync } from 'node:fs'
import type { Database } from 'better-sqlite3'

/** Marks a file as ours (sqlite.org/pragma.html#pragma_application_id): "plnt" in ASCII. */
const applicationId = 0x706c6e74

/** The schema, one step for each version: a file of version n has had the first n. Steps are only ever added. */
const migrations = [
  'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT',
  `PRAGMA application_id = ${applicationId}`,
]

/**
 * Returns whether the header of a file (sqlite.org/fileformat.html#the_database_header) marks it as ours, and throws when
 * its schema is newer than this version knows. SQLite itself would bring the journal into the file when it closes it.
 */
export function isMarkedFile(path: string): boolean {
  const header = Buffer.alloc(100)
  const descriptor = openSync(path, 'r')
  try {
    readSync(descriptor, header, 0, header.length, 0)
  } finally {
    closeSync(descriptor)
  }
  const isMarked = header.readUInt32BE(68) === applicationId
  if (isMarked) assertKnown(header.readUInt32BE(60))
  return isMarked
}

/** Throws when a database is another program's, or newer. One without a version is new; the mark came with version 2. */
export function assertOurs(database: Database): void {
  const version = database.pragma('user_version', { simple: true }) as number
  const tables = database.prepare('SELECT name FROM sqlite_schema').pluck().all()
  const isMarked = database.pragma('application_id', { simple: true }) === applicationId
  const isOurs = version === 0 ? tables.length === 0 : isMarked || (version === 1 && tables.includes('plants'))
  if (!isOurs) throw new Error('it is the database of another program')
  assertKnown(version)
}

/** Throws when a database is not ours, or has no plants yet. */
export function assertPlants(database: Database): void {
  assertOurs(database)
  const hasTable = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'plants'").get() !== undefined
  if (!hasTable) throw new Error('it has no table of plants')
}

/** Brings a database to the newest schema. */
export function migrate(database: Database): void {
  const upgrade = database.transaction(() => {
    const version = database.pragma('user_version', { simple: true }) as number
    for (const step of migrations.slice(version)) database.exec(step)
    database.pragma(`user_version = ${migrations.length}`)
  })
  upgrade.exclusive()
}

function assertKnown(version: number): void {
  if (version <= migrations.length) return
  throw new Error(
    `it has schema version ${version}, newer than version ${migrations.length} of this service; run the newer service`,
  )
}
