import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { createDurableDirectory, realPathOf } from 'fastify-contract/files'
import type { CreateOutcome, StoredPlant } from '../plant-store.ts'
import { lockFile, openError, openSqliteFile } from './sqlite-driver.ts'
import { finishRestore, pendingRestore, watchFileIdentity } from './sqlite-files.ts'
import { queryRunner } from './sqlite-queries.ts'
import { readDatabase } from './sqlite-reader.ts'
import { assertOwnDatabase, isMarkedFile, makeTables } from './sqlite-schema.ts'

export type PlantDatabase = {
  /** Creates a batch of plants in one transaction, which is durable when it returns. Throws when none was created. */
  commit(batch: StoredPlant[]): CreateOutcome[]
  /** Runs one of `sqliteQueries` by its name. */
  query(name: string, args: unknown[]): unknown
  /** Commits as a create does, but changes no plant. Throws when a create could not be committed. */
  probe(): void
  /** Copies the write-ahead log into the database file. Throws when it fails, unlike SQLite's automatic checkpoint. */
  checkpoint(): void
  /** Returns the size of the write-ahead log, in bytes. */
  journalBytes(): number
  close(): void
}

/** How long a commit waits for a lock of another program, in milliseconds. */
const timeout = 1_000
/** How long a commit waits while a service has the file open too, in milliseconds. */
const sharedTimeout = 10_000

/**
 * Opens the SQLite file at `path` for this process alone, and creates its directories when they are missing. Throws a
 * one-line error when the file is not a database of this service, is newer than this version, is in use by another
 * process, or is not writable. With `beside`, a service may have the file open.
 */
export function openDatabase(path: string, beside = false): PlantDatabase {
  createDurableDirectory(dirname(path))
  const real = realPathOf(path)
  const opened: (() => void)[] = []
  const close = () => {
    for (const closeOne of opened.splice(0).reverse()) closeOne()
  }
  try {
    // SQLite finds the write-ahead log by the file's name. Under another hard link it would miss the log, which may
    // hold all plants.
    if (hasOtherNames(real)) throw new Error('it has several hard links; remove all but one')
    const lock = `${real}-lock`
    // No lock file is created beside another program's database. When a lock file exists, this process may have the
    // database open, and reading its header would release SQLite's locks (sqlite.org/howtocorrupt.html section 2.2).
    // A pending restore, which the owner finishes below, replaces any file.
    if (!existsSync(lock) && pendingRestore(real) === undefined) assertOursAt(real)
    // The owner of the database holds a lock until it closes the database or ends. The lock is on a separate file, so
    // that other processes can read the database, for example for a backup.
    const unlock = lockUnlessServed(lock, beside)
    const isOwner = unlock !== undefined
    if (isOwner) {
      opened.push(unlock)
      finishRestore(real)
      // Throws for a newer file, before SQLite opens it.
      if (existsSync(real)) isMarkedFile(real)
      // A writable connection copies the write-ahead log into the file when it is closed, even after a failed check.
      if (existsSync(`${real}-wal`)) readDatabase(real, (database) => assertOwnDatabase(database))
    }
    const database = openSqliteFile(real, { timeout: isOwner ? timeout : sharedTimeout, fileMustExist: !isOwner })
    opened.push(() => database.close())
    assertOwnDatabase(database)
    makeDurable(database)
    if (isOwner) makeTables(database)
    const probe = createProbe(database)
    // A killed process may have left commits in the write-ahead log that are readable but not synced. This commit syncs
    // the whole log, so that a retried create is durable when it is reported as identical. A checkpoint is not enough:
    // SQLite skips it without an error while another program runs one.
    probe()
    const files = watchFileIdentity(real)
    return {
      commit: files.guard(isOwner ? createCommit(database) : yieldingCommit(createCommit(database))),
      query: files.guard(queryRunner(database)),
      probe: files.guard(probe),
      checkpoint: files.guard(() => database.pragma('wal_checkpoint(PASSIVE)')),
      journalBytes: files.journalBytes,
      close,
    }
  } catch (error) {
    close()
    throw openError(error as Error, real)
  }
}

/**
 * Locks a file and returns a function that releases the lock. Returns undefined when a service holds the lock and
 * `beside` is set.
 */
function lockUnlessServed(path: string, beside: boolean): (() => void) | undefined {
  try {
    return lockFile(path, timeout)
  } catch (error) {
    if (beside && (error as { code?: string }).code === 'SQLITE_BUSY') return undefined
    throw error
  }
}

/** Returns whether a file has several hard links. Directories always have. */
function hasOtherNames(path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false })
  return status?.isFile() === true && status.nlink > 1
}

/** Throws when a file exists and is not a database for this version. */
function assertOursAt(path: string): void {
  if (existsSync(path) && !isMarkedFile(path)) readDatabase(path, (database) => assertOwnDatabase(database))
}

/**
 * Makes every commit durable: in WAL mode only synchronous=FULL syncs each one
 * (sqlite.org/pragma.html#pragma_synchronous).
 */
export function makeDurable(database: Database.Database): void {
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  // The log grows while a reader needs its beginning. Afterwards SQLite truncates it to this size.
  database.pragma(`journal_size_limit = ${2 ** 26}`)
  // On macOS, unlike elsewhere, fsync leaves the data in the disk's cache.
  database.pragma('fullfsync = ON')
  database.pragma('checkpoint_fullfsync = ON')
  const mode = database.pragma('journal_mode', { simple: true })
  const synchronous = database.pragma('synchronous', { simple: true })
  if (mode !== 'wal' || synchronous !== 2)
    throw new Error(`its commits are not durable: journal mode ${mode}; use another file system`)
}

export type Commit = (batch: StoredPlant[]) => CreateOutcome[]

/** Returns a function that creates a batch of plants in one transaction. It throws when none was created. */
export function createCommit(database: Database.Database): Commit {
  const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const select = database.prepare<[bigint], { name: string; tag: string | null }>(
    'SELECT name, tag FROM plants WHERE id = ?',
  )
  const create = ({ id, name, tag = null as never }: StoredPlant): CreateOutcome => {
    if (insert.run(id, name, tag).changes === 1) return 'created'
    const kept = select.get(id)
    return kept?.name === name && kept.tag === tag ? 'identical' : 'conflict'
  }
  return database.transaction((batch: StoredPlant[]) => batch.map(create)).immediate
}

/**
 * Returns a commit that waits after each batch for as long as the batch took, with the file unlocked. SQLite has no
 * queue for its lock, so a writer that locked the file again at once would starve the others.
 */
export function yieldingCommit(commit: Commit): Commit {
  const never = new Int32Array(new SharedArrayBuffer(4))
  return (batch) => {
    const started = performance.now()
    try {
      return commit(batch)
    } finally {
      Atomics.wait(never, 0, 0, performance.now() - started)
    }
  }
}

/**
 * Returns a function that commits as a create does but leaves no plant. It throws when the table or a column is
 * missing. To have something to commit, it writes the schema version unchanged.
 */
export function createProbe(database: Database.Database): () => void {
  const insertNothing = database.prepare("INSERT INTO plants (id, name, tag) SELECT 0, '', NULL WHERE false")
  const probe = database.transaction(() => {
    insertNothing.run()
    database.pragma(`user_version = ${database.pragma('user_version', { simple: true })}`)
  })
  return probe.immediate
}
