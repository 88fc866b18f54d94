import { closeSync, fsyncSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import type { CreateOutcome, NewPlant } from './plant-store.ts'
import { rememberFiles } from './sqlite-files.ts'
import { prober } from './sqlite-probe.ts'

/** Marks a file as ours (sqlite.org/pragma.html#pragma_application_id): "plnt" in ASCII. */
const applicationId = 0x706c6e74

/** The schema, one step for each version: a file of version n has had the first n. Steps are only ever added. */
const migrations = [
  'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT',
  `PRAGMA application_id = ${applicationId}`,
]

export type PlantDatabase = {
  /** Creates all of them in one transaction, on the disk when it returns, or throws and has created none. */
  commit(batch: NewPlant[]): CreateOutcome[]
  /** Proves that a create can be committed, by a commit like that of one, which changes nothing. Throws when it cannot. */
  probe(): void
  /** Brings what was committed into the file itself, or throws. SQLite does so too, but keeps its failures to itself. */
  checkpoint(): void
  /** Returns the size of the write-ahead log. */
  journalBytes(): number
  close(): void
}

/** How long a lock of another program may keep a commit waiting, in milliseconds. */
const timeout = 1_000

/**
 * Opens the SQLite file at `path` for this process alone, with its directories made where they are missing. Throws when
 * the file is no database of ours, is newer than this version, or is in use by another process.
 */
export function openDatabase(path: string): PlantDatabase {
  makeDirectory(dirname(path))
  const database = new Database(path, { timeout })
  let lock: Database.Database | undefined
  const close = () => {
    database.close()
    lock?.close()
  }
  try {
    // Under another name the file is read without its journal, which may hold all of it.
    if (!database.memory && statSync(path).nlink > 1) throw new Error('it has several names: each would have a journal')
    assertOurs(database)
    makeDurable(database)
    // One process owns the file, until it closes it or ends in any way: by the lock of a transaction that never writes,
    // on a file beside it, so that others may read the database, for a backup.
    lock = new Database(`${realpathSync(path)}-lock`, { timeout })
    lock.exec('BEGIN EXCLUSIVE')
    migrate(database)
    const probe = prober(database)
    // A killed process may have written commits that it never synced, and they can be read by now. The sync of this commit
    // covers the whole write-ahead log, so that a retry of theirs is durable once it is answered. A checkpoint would not
    // do: SQLite skips it without an error while another program runs one.
    probe()
    const files = rememberFiles(path)
    return {
      commit: files.guard(committer(database)),
      probe: files.guard(probe),
      checkpoint: files.guard(() => database.pragma('wal_checkpoint(PASSIVE)')),
      journalBytes: files.journalBytes,
      close,
    }
  } catch (error) {
    close()
    const inUse = (error as { code?: string }).code?.startsWith('SQLITE_BUSY')
    throw inUse ? new Error('it is in use by another process', { cause: error }) : error
  }
}

/** A new directory lasts when the one that holds it is synced. */
function makeDirectory(path: string): void {
  const first = mkdirSync(path, { recursive: true })
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) {
    const parent = openSync(dirname(made), 'r')
    fsyncSync(parent)
    closeSync(parent)
  }
}

/** A file without a version is new, or another program's; the mark came with the second version. */
function assertOurs(database: Database.Database): void {
  const version = database.pragma('user_version', { simple: true }) as number
  const tables = database.prepare('SELECT name FROM sqlite_schema').pluck().all()
  const isMarked = database.pragma('application_id', { simple: true }) === applicationId
  const isOurs = version === 0 ? tables.length === 0 : isMarked || (version === 1 && tables.includes('plants'))
  if (!isOurs) throw new Error('it is the database of another program')
}

/** In WAL mode only synchronous=FULL syncs at every commit (sqlite.org/pragma.html#pragma_synchronous). */
function makeDurable(database: Database.Database): void {
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  // The log grows as long as a reader needs its beginning; afterwards it gives the space back, down to this size.
  database.pragma(`journal_size_limit = ${2 ** 26}`)
  // On macOS alone fsync leaves the data in the disk's cache.
  database.pragma('fullfsync = ON')
  database.pragma('checkpoint_fullfsync = ON')
  const mode = database.pragma('journal_mode', { simple: true })
  const synchronous = database.pragma('synchronous', { simple: true })
  if (mode !== 'wal' || synchronous !== 2) throw new Error(`it cannot be durable here: journal mode ${mode}`)
}

function migrate(database: Database.Database): void {
  const upgrade = database.transaction(() => {
    const version = database.pragma('user_version', { simple: true }) as number
    if (version > migrations.length) throw new Error(`it has schema version ${version}, newer than this service`)
    for (const step of migrations.slice(version)) database.exec(step)
    if (version < migrations.length) database.pragma(`user_version = ${migrations.length}`)
  })
  upgrade.exclusive()
}

function committer(database: Database.Database): (batch: NewPlant[]) => CreateOutcome[] {
  const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const select = database.prepare<[bigint], { name: string; tag: string | null }>(
    'SELECT name, tag FROM plants WHERE id = ?',
  )
  const create = ({ id, name, tag = null as never }: NewPlant): CreateOutcome => {
    if (insert.run(id, name, tag).changes === 1) return 'created'
    const kept = select.get(id)
    return kept?.name === name && kept.tag === tag ? 'identical' : 'conflict'
  }
  return database.transaction((batch: NewPlant[]) => batch.map(create)).immediate
}
