import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import type { CreateOutcome, NewPlant, PlantStore } from './plant-store.ts'

/** The schema, one step for each version: a file of version n has had the first n. Steps are only ever added. */
const migrations = ['CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT']

/**
 * Opens the SQLite file at `path`, with its directories made where they are missing. A create is on the disk when it
 * resolves: in WAL mode only synchronous=FULL syncs at every commit (sqlite.org/pragma.html#pragma_synchronous).
 * Throws when the file is no database of ours, is newer than this version, or is in use by another process.
 */
export function openSqlite(path: string): PlantStore {
  mkdirSync(dirname(path), { recursive: true })
  const database = new Database(path, { timeout: 1_000 })
  try {
    // One process owns the file, until it closes it or ends in any way.
    database.pragma('locking_mode = EXCLUSIVE')
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = FULL')
    // On macOS alone fsync leaves the data in the disk's cache.
    database.pragma('fullfsync = ON')
    database.pragma('checkpoint_fullfsync = ON')
    assertDurable(database)
    migrate(database)
  } catch (error) {
    database.close()
    const inUse = (error as { code?: string }).code?.startsWith('SQLITE_BUSY')
    throw inUse ? new Error('it is in use by another process', { cause: error }) : error
  }
  return store(database)
}

function assertDurable(database: Database.Database): void {
  const mode = database.pragma('journal_mode', { simple: true })
  const synchronous = database.pragma('synchronous', { simple: true })
  if (mode !== 'wal' || synchronous !== 2) throw new Error(`it cannot be durable here: journal mode ${mode}`)
}

function migrate(database: Database.Database): void {
  const upgrade = database.transaction(() => {
    const version = database.pragma('user_version', { simple: true }) as number
    if (version > migrations.length) throw new Error(`it has schema version ${version}, newer than this service`)
    for (const step of migrations.slice(version)) database.exec(step)
    database.pragma(`user_version = ${migrations.length}`)
  })
  upgrade.exclusive()
}

function store(database: Database.Database): PlantStore {
  const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const select = database.prepare<[bigint], { name: string; tag: string | null }>(
    'SELECT name, tag FROM plants WHERE id = ?',
  )
  return {
    async create({ id, name, tag = null as never }: NewPlant): Promise<CreateOutcome> {
      if (insert.run(id, name, tag).changes === 1) return 'created'
      const kept = select.get(id)
      return kept?.name === name && kept.tag === tag ? 'identical' : 'conflict'
    },
    async ready() {
      select.get(0n)
    },
    async close() {
      database.close()
    },
  }
}
