import { pragma, type SqliteDatabase, transaction } from './sqlite-driver.ts'

/** Marks a file of this service (sqlite.org/pragma.html#pragma_application_id): "plnt" in ASCII. */
const applicationId = 0x706c6e74

/** Version n of the schema has the first n of these statements. */
const statements = [
  'CREATE TABLE store.plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT',
  `PRAGMA store.application_id = ${applicationId}`,
]

/** The schema version of this release, which opens files up to it. A file has its schema version as user_version. */
const known = statements.length

/** Throws when a database belongs to another program or is too new. Version 0 is a new file; version 1 has no mark. */
export function assertOwnDatabase(database: SqliteDatabase): void {
  const version = versionOf(database)
  const tables = database
    .prepare('SELECT name FROM store.sqlite_schema')
    .all()
    .map(({ name }) => name)
  const isMarked = pragma(database, 'application_id') === applicationId
  const isOurs = version === 0 ? tables.length === 0 : isMarked || (version === 1 && tables.includes('plants'))
  if (!isOurs) throw new Error('it is not a plant-store database; check the path')
  assertKnown(version)
}

/** Throws when a database belongs to another program, is too new, or has no table of plants. */
export function assertPlants(database: SqliteDatabase): void {
  assertOwnDatabase(database)
  const hasTable = database.prepare("SELECT 1 FROM store.sqlite_schema WHERE name = 'plants'").get() !== undefined
  if (!hasTable) throw new Error('it has no table of plants')
}

/** Brings the tables of a new file, or of one of an earlier release, to the version of this release. */
export function makeTables(database: SqliteDatabase): void {
  function upgrade(): void {
    const version = versionOf(database)
    if (version >= known) return
    for (const step of statements.slice(version)) database.exec(step)
    pragma(database, `user_version = ${known}`)
  }
  transaction(database, 'EXCLUSIVE', upgrade)()
}

const versionOf = (database: SqliteDatabase) => pragma(database, 'user_version') as number

function assertKnown(version: number): void {
  if (version <= known) return
  throw new Error(`it has schema version ${version}, and this release supports up to ${known}; upgrade the service`)
}
