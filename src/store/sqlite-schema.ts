import { closeSync, openSync, readSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { assertKnown, isExpansion, newestVersion, type SchemaState, type SchemaStep } from './schema-step.ts'
import { sqliteSteps } from './sqlite-steps.ts'

/** Marks a file of this service (sqlite.org/pragma.html#pragma_application_id): "plnt" in ASCII. */
const applicationId = 0x706c6e74

/** The first versions: version n has the first n of these migrations. */
const migrations = [
  'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT',
  `PRAGMA application_id = ${applicationId}`,
]

/** The version before any step. The user_version of a file with steps is the oldest version that can use it. */
export const baseVersion = migrations.length

/**
 * Returns whether the header of a file (sqlite.org/fileformat.html#the_database_header) has the mark of this service.
 * Throws when its schema is newer than this version knows. The header is read without SQLite, which would copy the
 * write-ahead log into the file on close.
 */
export function isMarkedFile(path: string, steps = sqliteSteps): boolean {
  const header = Buffer.alloc(100)
  const descriptor = openSync(path, 'r')
  try {
    readSync(descriptor, header, 0, header.length, 0)
  } finally {
    closeSync(descriptor)
  }
  const isMarked = header.readUInt32BE(68) === applicationId
  if (isMarked) assertKnown(header.readUInt32BE(60), newestVersion(baseVersion, steps))
  return isMarked
}

/** Throws when a database belongs to another program or is too new. Version 0 is a new file; version 1 has no mark. */
export function assertOwnDatabase(database: Database, steps = sqliteSteps): void {
  const version = database.pragma('user_version', { simple: true }) as number
  const tables = database.prepare('SELECT name FROM sqlite_schema').pluck().all()
  const isMarked = database.pragma('application_id', { simple: true }) === applicationId
  const isOurs = version === 0 ? tables.length === 0 : isMarked || (version === 1 && tables.includes('plants'))
  if (!isOurs) throw new Error('it is the database of another program')
  assertKnown(version, newestVersion(baseVersion, steps))
}

/** Throws when a database belongs to another program, is too new, or has no table of plants. */
export function assertPlants(database: Database): void {
  assertOwnDatabase(database)
  const hasTable = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'plants'").get() !== undefined
  if (!hasTable) throw new Error('it has no table of plants')
}

/** Runs the migrations to the base version. */
export function makeTables(database: Database): void {
  const upgrade = database.transaction(() => {
    const version = database.pragma('user_version', { simple: true }) as number
    if (version >= baseVersion) return
    for (const step of migrations.slice(version)) database.exec(step)
    database.pragma(`user_version = ${baseVersion}`)
  })
  upgrade.exclusive()
}

/** Returns the steps that have been applied to a database. */
export function schemaOf(database: Database): SchemaState {
  const oldest = database.pragma('user_version', { simple: true }) as number
  const hasHistory = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'plants_schema'").get() !== undefined
  const versions = hasHistory ? database.prepare('SELECT version FROM plants_schema').pluck().all() : []
  return { applied: new Set(versions as number[]), oldest }
}

/** Throws when a database lacks an expanding step, which the queries of this version may need. */
export function assertExpanded(database: Database, steps: SchemaStep[]): void {
  const { applied } = schemaOf(database)
  const missing = steps.find((step) => isExpansion(step) && !applied.has(step.version))
  if (missing === undefined) return
  throw new Error(`it has no schema version ${missing.version} yet; run plant-store migrate expand`)
}

/** Runs the steps that are missing in a database, each in a transaction that also inserts its row. */
export function runSqliteSteps(database: Database, steps: SchemaStep[]): void {
  for (const { version, sql, oldest } of steps) {
    const applyStep = database.transaction(() => {
      // Another process may have run the step while this one waited for the lock.
      if (schemaOf(database).applied.has(version)) return
      database.exec('CREATE TABLE IF NOT EXISTS plants_schema (version INTEGER PRIMARY KEY) STRICT')
      database.prepare('INSERT INTO plants_schema (version) VALUES (?)').run(version)
      database.exec(sql)
      if (oldest !== undefined) database.pragma(`user_version = ${oldest}`)
    })
    applyStep.immediate()
  }
}
