import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { makeDirectory } from './durable-files.ts'
import { lockFile } from './file-lock.ts'
import type { CreateOutcome, StoredPlant } from './plant-store.ts'
import { realPathOf } from './real-path.ts'
import { isExpansion, type SchemaStep } from './schema-step.ts'
import { committer, politely } from './sqlite-commit.ts'
import { openSqliteFile } from './sqlite-driver.ts'
import { rememberFiles } from './sqlite-files.ts'
import { openError } from './sqlite-open-error.ts'
import { prober } from './sqlite-probe.ts'
import { queryRunner } from './sqlite-queries.ts'
import { readDatabase } from './sqlite-reader.ts'
import { finishRestore } from './sqlite-restore.ts'
import { assertOurs, isMarkedFile, makeTables, takeSqliteSteps } from './sqlite-schema.ts'
import { sqliteSteps } from './sqlite-steps.ts'
import { type SqliteTables, sqliteTables } from './sqlite-tables.ts'

export type PlantDatabase = {
  /** Creates all of them in one transaction, on the disk when it returns, or throws and has created none. */
  commit(batch: StoredPlant[]): CreateOutcome[]
  /** Runs one of `sqliteQueries` by its name. */
  query(name: string, args: unknown[]): unknown
  /** Proves that a create can be committed, by a commit like that of one, which changes nothing. Throws when it cannot. */
  probe(): void
  /** Brings what was committed into the file itself, or throws. SQLite does so too, but keeps its failures to itself. */
  checkpoint(): void
  /** Returns the size of the write-ahead log. */
  journalBytes(): number
  tables: SqliteTables
  close(): void
}

/** How long a lock of another program may keep a commit waiting, in milliseconds. */
const timeout = 1_000
/** How long the commits of a service may keep one beside it waiting. */
const patience = 10_000

/**
 * Opens the SQLite file at `path` for this process alone, with its directories made where they are missing. Throws an error
 * of one line when the file is no database of ours, is newer than this version, is in use by another process, or may not
 * be written. With `beside` it may be in use by a service, and is then written beside that.
 */
export function openDatabase(path: string, beside = false, steps = sqliteSteps): PlantDatabase {
  makeDirectory(dirname(path))
  const real = realPathOf(path)
  const opened: (() => void)[] = []
  const close = () => {
    for (const closeOne of opened.splice(0).reverse()) closeOne()
  }
  try {
    // Under another name the file is read without its journal, which may hold all of it.
    if (hasOtherNames(real)) throw new Error('it has several names: each would have a journal')
    const lock = `${real}-lock`
    // No lock is made beside another program's file. Where there is one, the file may be open in this process, which would
    // lose SQLite's own locks by closing it (sqlite.org/howtocorrupt.html section 2.2).
    if (!existsSync(lock)) assertOursAt(real, steps)
    // One process owns the file, until it closes it or ends in any way: by a lock on a file beside it, so that others may
    // read the database, for a backup.
    const unlock = lockUnlessServed(lock, beside)
    const isOwner = unlock !== undefined
    if (isOwner) {
      opened.push(unlock)
      finishRestore(real)
      if (existsSync(real)) isMarkedFile(real, steps)
      // The last connection that may write brings the journal into the file, also when it is refused.
      if (existsSync(`${real}-wal`)) readDatabase(real, (database) => assertOurs(database, steps))
    }
    const database = openSqliteFile(real, { timeout: isOwner ? timeout : patience, fileMustExist: !isOwner })
    opened.push(() => database.close())
    assertOurs(database, steps)
    makeDurable(database)
    if (isOwner) makeTables(database)
    takeSqliteSteps(database, steps.filter(isExpansion))
    const probe = prober(database)
    // A killed process may have written commits that it never synced, and they can be read by now. The sync of this commit
    // covers the whole write-ahead log, so that a retry of theirs is durable once it is answered. A checkpoint would not
    // do: SQLite skips it without an error while another program runs one.
    probe()
    const files = rememberFiles(real)
    return {
      commit: files.guard(isOwner ? committer(database) : politely(committer(database))),
      query: files.guard(queryRunner(database)),
      probe: files.guard(probe),
      checkpoint: files.guard(() => database.pragma('wal_checkpoint(PASSIVE)')),
      journalBytes: files.journalBytes,
      tables: sqliteTables(database, files.guard),
      close,
    }
  } catch (error) {
    close()
    throw openError(error as Error, real)
  }
}

/** Returns what releases the lock; undefined when a service has it, and the file may be written beside that. */
function lockUnlessServed(path: string, beside: boolean): (() => void) | undefined {
  try {
    return lockFile(path, timeout)
  } catch (error) {
    if (beside && (error as { code?: string }).code === 'SQLITE_BUSY') return undefined
    throw error
  }
}

/** A directory has several names anyway. */
function hasOtherNames(path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false })
  return status?.isFile() === true && status.nlink > 1
}

/** Throws when a file is not one for this version. */
function assertOursAt(path: string, steps: SchemaStep[]): void {
  if (existsSync(path) && !isMarkedFile(path, steps)) readDatabase(path, (database) => assertOurs(database, steps))
}

/** In WAL mode only synchronous=FULL syncs at every commit (sqlite.org/pragma.html#pragma_synchronous). */
export function makeDurable(database: Database.Database): void {
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
