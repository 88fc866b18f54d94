import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncPath } from '../store/durable-files.ts'
import { lockFile } from '../store/file-lock.ts'
import { NoSqlite } from '../store/sqlite-driver.ts'
import { copyPlants, sqlitePath } from './plant-file.ts'

/** Suffixes of an unfinished copy and of its lock. A running backup holds the lock: an unlocked copy is abandoned. */
const unfinished = '.unfinished'
const lockSuffix = `${unfinished}-lock`

/**
 * Copies the SQLite file of STORE_URL into a new file, while a service may have it open. The copy gets its name only
 * when it is complete and synced. Also removes abandoned copies of killed backups from the same directory. Returns a
 * line to print. Throws one line that says what failed.
 */
export function backup(target: string, environment: NodeJS.ProcessEnv): string {
  const path = sqlitePath(environment)
  if (existsSync(target)) throw new Error(`${target} exists already; name a new file`)
  const directory = dirname(target)
  if (!existsSync(directory)) throw new Error(`${directory} does not exist; create that directory`)
  for (const name of readdirSync(directory)) {
    if (name.endsWith(lockSuffix)) removeLeftover(join(directory, name))
  }
  const release = lock(`${target}${lockSuffix}`)
  if (release === undefined) throw new Error(`another backup is writing ${target}; name another file`)
  try {
    const copy = target + unfinished
    rmSync(copy, { force: true })
    const plants = copyPlants(path, copy)
    renameSync(copy, target)
    syncPath(directory)
    return `${plants} plants are in ${target}\n`
  } finally {
    rmSync(`${target}${lockSuffix}`, { force: true })
    release()
  }
}

/** Removes an abandoned lock and its copy. The copy is removed first, so that no copy is left without a lock. */
function removeLeftover(path: string): void {
  const release = lock(path)
  if (release === undefined) return
  rmSync(path.slice(0, -'-lock'.length), { force: true })
  rmSync(path, { force: true })
  release()
}

/** Locks a file and returns a function that releases the lock. Returns undefined when the file cannot be locked. */
function lock(path: string): (() => void) | undefined {
  try {
    return lockFile(path, 0)
  } catch (error) {
    if (error instanceof NoSqlite || (error as NodeJS.ErrnoException).code === 'ELOOP') throw error
    return undefined
  }
}
