import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  openSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseOptions, UsageError } from 'fastify-contract/token-command'
import { rethrowWithUrl, storeConfig } from '../config.ts'
import { realPathOf, renameDurably, syncPath } from '../store/atomic-file.ts'
import { createDirectory } from '../store/sqlite/sqlite-database.ts'
import { inUse, lockFile, openError, type SqliteDatabase } from '../store/sqlite/sqlite-driver.ts'
import { finishRestore, replacedPath, restoredPath } from '../store/sqlite/sqlite-files.ts'
import { readDatabase } from '../store/sqlite/sqlite-queries.ts'
import { assertPlants } from '../store/sqlite/sqlite-schema.ts'

export const sqliteHelp = `plant-store backup TARGET
plant-store restore SOURCE
plant-store check [FILE]

backup    copies the SQLite file of STORE_URL into a new file; the service may run meanwhile
restore   replaces that file with a copy of a backup; stop the service first; the old file is kept as FILE-replaced
check     checks a file, that of STORE_URL or a backup, for corruption; the service may run meanwhile
`

const operands = { backup: 'TARGET', restore: 'SOURCE', check: 'FILE' }

/**
 * Runs `plant-store backup`, `restore` or `check` with its arguments. Returns the text to print and the exit code.
 * Throws a UsageError, or one line that names a file and the problem.
 */
export function sqliteCommand(
  command: keyof typeof operands,
  args: string[],
  environment: NodeJS.ProcessEnv,
): { result: string; code: number } {
  const { help, operand } = parseOptions(args, [], operands[command])
  if (help) return { result: sqliteHelp, code: 0 }
  if (command === 'check') return check(operand ?? sqlitePath(environment))
  if (operand === undefined) {
    const expected = command === 'backup' ? 'the path of a new file' : 'the path of a backup'
    throw new UsageError(`missing ${operands[command]}; expected ${expected}`)
  }
  return { result: (command === 'backup' ? backup : restore)(operand, environment), code: 0 }
}

/** Checks a file, and returns a line for each problem that SQLite finds. */
function check(path: string): { result: string; code: number } {
  const { problems, plants } = readPlants(path, examine)
  if (problems.length === 0) return { result: `${path}: ok, ${plants} plants\n`, code: 0 }
  return { result: problems.map((problem) => `${path}: ${problem}\n`).join(''), code: 1 }
}

/**
 * Copies the SQLite file of STORE_URL into a new file, while a service may have it open. The copy gets its name only
 * when it is complete and synced. Returns a line to print. Throws one line that says what failed.
 */
export function backup(target: string, environment: NodeJS.ProcessEnv): string {
  const path = sqlitePath(environment)
  if (existsSync(target)) throw new Error(`${target} exists already; name a new file`)
  const directory = dirname(target)
  if (!existsSync(directory)) throw new Error(`${directory} does not exist; create that directory`)
  const copy = `${target}.unfinished`
  if (existsSync(copy)) throw new Error(`${copy} exists; if no backup is running, remove it`)
  const plants = copyPlants(path, copy)
  renameDurably(copy, target)
  return `${plants} plants are in ${target}\n`
}

/** How long to wait for the lock of another process, in milliseconds. */
const timeout = 1_000

/**
 * Replaces the SQLite file of STORE_URL with a copy of a backup, and keeps the old file with its journal beside it.
 * After a crash at any moment, the old file is in place, or the next start of the service finishes the restore. Returns
 * a line to print. Throws one line when a service has the file open or the backup is damaged. Nothing is changed then,
 * unless an interrupted restore had to be finished first.
 */
export function restore(source: string, environment: NodeJS.ProcessEnv): string {
  const given = sqlitePath(environment)
  assertSound(source)
  try {
    createDirectory(dirname(given))
  } catch (error) {
    rethrowWithUrl(`sqlite:${given}`)(error as Error)
  }
  const path = realPathOf(given)
  if (realpathSync(source) === path) throw new Error(`${source} is the file of STORE_URL itself; name a backup`)
  const release = lockDatabase(path)
  try {
    return replace(path, source)
  } finally {
    release()
  }
}

function replace(path: string, source: string): string {
  finishRestore(path)
  const replaced = replacedPath(path)
  if (existsSync(replaced)) {
    throw new Error(`${replaced} exists from an earlier restore; move or remove it and its -wal file first`)
  }
  const copy = `${path}-restoring`
  rmSync(copy, { force: true })
  const plants = copyPlants(source, copy)
  const old = statSync(path, { throwIfNoEntry: false })
  giveTo(old ?? statSync(dirname(path)), copy)
  if (old !== undefined) chmodSync(copy, old.mode & 0o777)
  syncPath(copy)
  renameDurably(copy, restoredPath(path))
  finishRestore(path)
  const kept = old === undefined ? '' : `; the old file is now ${replaced}`
  return `${plants} plants of ${source} are in ${path}${kept}\n`
}

/** Locks the SQLite file as the service does. */
function lockDatabase(path: string): () => void {
  const name = `${path}-lock`
  const isNew = !existsSync(name)
  try {
    const release = lockFile(name, timeout)
    if (isNew) giveTo(statSync(dirname(path)), name)
    return release
  } catch (error) {
    const { message } = openError(error as Error, path)
    throw new Error(`${path}: ${message.replace(inUse, '$&; stop the service first')}`, { cause: error })
  }
}

/** Changes the owner of a file that root created to the user of the service, which must be able to write it. */
function giveTo({ uid, gid }: Stats, path: string): void {
  if (process.getuid?.() === 0) chownSync(path, uid, gid)
}

/** Returns the path of the SQLite file of STORE_URL. Throws when STORE_URL names another kind of store. */
export function sqlitePath(environment: NodeJS.ProcessEnv): string {
  const { storeUrl } = storeConfig({ STORE_URL: environment.STORE_URL })
  const [, path] = /^sqlite:(.+)$/.exec(storeUrl) ?? []
  if (path === undefined) throw new Error('STORE_URL is not sqlite:PATH; use the tools of that database')
  return path
}

/**
 * Opens a SQLite file of plants read-only, and returns the result of `use`. Throws one line that names the file when it
 * is not such a file or cannot be read.
 */
export function readPlants<Result>(path: string, use: (database: SqliteDatabase) => Result): Result {
  try {
    return readDatabase(path, function useChecked(database) {
      assertPlants(database)
      return use(database)
    })
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error })
  }
}

/** Returns the problems that SQLite finds in a database, and the number of plants when there are none. */
export function examine(database: SqliteDatabase): { problems: string[]; plants: number } {
  const found = database.prepare('PRAGMA store.quick_check').all() as { quick_check: string }[]
  const lines = found.flatMap(({ quick_check }) => quick_check.split('\n'))
  const problems = lines.filter((line) => line !== 'ok' && !line.startsWith('***'))
  if (problems.length > 0) return { problems, plants: 0 }
  return { problems, plants: database.prepare('SELECT count(*) AS plants FROM plants').get().plants }
}

/** Checks a file of plants and returns the number of its plants. Throws one line when the file is damaged. */
export function assertSound(path: string): number {
  const { problems, plants } = readPlants(path, examine)
  if (problems.length > 0) throw new Error(`${path} is damaged: ${problems[0]}`)
  return plants
}

/**
 * Copies a consistent snapshot of a file of plants into a new file, checks and syncs the copy, and returns the number
 * of its plants. Throws one line when a file cannot be used; the copy is then removed.
 */
export function copyPlants(from: string, to: string): number {
  // The copy must never be readable by more users than the file.
  closeSync(openSync(to, 'wx', 0o600))
  try {
    // SQLite takes a relative path such as file:copy for a URI.
    readPlants(from, (database) => database.prepare('VACUUM store INTO ?').run(resolve(to)))
    chmodSync(to, statSync(from).mode & 0o777)
    const plants = assertSound(to)
    syncPath(to)
    return plants
  } catch (error) {
    rmSync(to, { force: true })
    throw error
  }
}
