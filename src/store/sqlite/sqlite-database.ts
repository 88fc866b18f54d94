import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createDurableDirectory, realPathOf } from '../atomic-file.ts'
import type { CreateOutcome } from '../plant-store.ts'
import { createCommit, type PlantBatch } from './sqlite-batch.ts'
import { lockFile, openError, openSqliteFile, pragma, type SqliteDatabase, transaction } from './sqlite-driver.ts'
import { finishRestore, pendingRestore, watchFileIdentity } from './sqlite-files.ts'
import { queryRunner, readDatabase } from './sqlite-queries.ts'
import { assertOwnDatabase, makeTables } from './sqlite-schema.ts'

export type PlantDatabase = {
  /** Creates a batch of plants in one transaction, which is durable when it returns. Throws when none was created. */
  commit(batch: PlantBatch): CreateOutcome[]
  /** Runs one of `sqliteQueries` by its name. */
  query(name: string, args: unknown[]): unknown
  /** Commits as a write does, but changes no plant. Throws when a write could not be committed. */
  probe(): void
  /** Copies the write-ahead log into the database file. Throws when it fails, unlike SQLite's automatic checkpoint. */
  checkpoint(): void
  /** Returns the size of the write-ahead log, in bytes. */
  journalBytes(): number
  close(): void
}

/** How long a commit waits for a lock of another program, in milliseconds. */
const timeout = 1_000

/**
 * Opens the SQLite file at `path` for this process alone, and creates its directories when they are missing. Throws a
 * one-line error when the file is not a database of this service, is newer than this version, is in use by another
 * process, or is not writable.
 */
export function openDatabase(path: string): PlantDatabase {
  createDirectory(dirname(path))
  const real = realPathOf(path)
  const opened: (() => void)[] = []
  function close(): void {
    for (const closeOne of opened.splice(0).reverse()) closeOne()
  }
  try {
    // SQLite finds the write-ahead log by the file's name. Under another hard link it would miss the log, which may
    // hold all plants.
    if (hasOtherNames(real)) throw new Error('it has several hard links; remove all but one')
    // Checks the file read-only first: another program's database must get no lock file, and a writable connection
    // would change it on close. Skipped if a pending restore replaces the file anyway.
    if (existsSync(real) && pendingRestore(real) === undefined) readDatabase(real, assertOwnDatabase)
    // The lock is on a separate file, so that other processes can read the database, for example for a backup.
    opened.push(lockFile(`${real}-lock`, timeout))
    finishRestore(real)
    const database = openSqliteFile(real, { timeout })
    opened.push(() => database.close())
    assertOwnDatabase(database)
    makeDurable(database)
    // In KiB, because random ids change pages all over the file. SQLite's default is 2,000.
    pragma(database, 'cache_size = -16000')
    makeTables(database)
    const probe = createProbe(database)
    // A killed process may have left commits in the write-ahead log that are readable but not synced. This commit syncs
    // the whole log, so that a retried write is durable when it is reported as identical. A checkpoint is not enough:
    // SQLite skips it without an error while another program runs one.
    probe()
    const files = watchFileIdentity(real)
    return {
      commit: files.guard(createCommit(database)),
      query: files.guard(queryRunner(database)),
      probe: files.guard(probe),
      checkpoint: files.guard(() => void pragma(database, 'wal_checkpoint(PASSIVE)')),
      journalBytes: files.journalBytes,
      close,
    }
  } catch (error) {
    close()
    throw openError(error as Error, real)
  }
}

/** Creates a directory with its parents. Throws one line that names it when it cannot be created. */
export function createDirectory(path: string): void {
  try {
    createDurableDirectory(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`its directory ${path} cannot be created (${code}); check the path and its owner`, { cause: error })
  }
}

/** Returns whether a file has several hard links. Directories always have. */
function hasOtherNames(path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false })
  return status?.isFile() === true && status.nlink > 1
}

/**
 * Makes every commit durable: in WAL mode only synchronous=FULL syncs each one
 * (sqlite.org/pragma.html#pragma_synchronous).
 */
export function makeDurable(database: SqliteDatabase): void {
  pragma(database, 'journal_mode = WAL')
  pragma(database, 'synchronous = FULL')
  // The log grows while a reader needs its beginning. Afterwards SQLite truncates it to this size.
  pragma(database, `journal_size_limit = ${2 ** 26}`)
  // On macOS, unlike elsewhere, fsync leaves the data in the disk's cache.
  pragma(database, 'fullfsync = ON')
  pragma(database, 'checkpoint_fullfsync = ON')
  const mode = pragma(database, 'journal_mode')
  const synchronous = pragma(database, 'synchronous')
  if (mode !== 'wal' || synchronous !== 2)
    throw new Error(`its commits are not durable: journal mode ${mode}; use another file system`)
}

/**
 * Returns a function that commits as a write does but leaves no plant. It throws when the table or a column is
 * missing. To have something to commit, it writes the schema version unchanged.
 */
export function createProbe(database: SqliteDatabase): () => void {
  function probe(): void {
    database.exec("INSERT INTO plants (id, name, tag) SELECT 0, '', NULL WHERE false")
    pragma(database, `user_version = ${pragma(database, 'user_version')}`)
  }
  return transaction(database, 'IMMEDIATE', probe)
}
