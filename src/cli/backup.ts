import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncPath } from '../store/durable-files.ts'
import { lockFile } from '../store/file-lock.ts'
import { NoSqlite } from '../store/sqlite-driver.ts'
import { copyPlants, sqlitePath } from './plant-file.ts'

/** Beside it is a lock that a running backup holds, so that leftovers can be told from what is being written. */
const unfinished = '.unfinished'
const lockSuffix = `${unfinished}-lock`

/**
 * Copies the SQLite file of STORE_URL into a new file, while a service has it open or not, and removes what killed
 * backups left in the same directory. The copy has its name only when it is whole and synced. Returns a line for
 * people.
 */
export function backup(target: string, environment: NodeJS.ProcessEnv): string {
  const path = sqlitePath(environment)
  if (existsSync(target)) throw new Error(`${target} exists; name a new file`)
  const directory = dirname(target)
  if (!existsSync(directory)) throw new Error(`${directory} does not exist; make that directory`)
  for (const name of readdirSync(directory)) {
    if (name.endsWith(lockSuffix)) removeLeftover(join(directory, name))
  }
  const release = lock(`${target}${lockSuffix}`)
  if (release === undefined) throw new Error(`another backup writes ${target}; name another file`)
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

/** Removes an abandoned lock and its copy; the copy goes first, so that no copy is ever left without a lock. */
function removeLeftover(path: string): void {
  const release = lock(path)
  if (release === undefined) return
  rmSync(path.slice(0, -'-lock'.length), { force: true })
  rmSync(path, { force: true })
  release()
}

/** Returns what releases the lock; undefined when another process has it, or the file is no lock. */
function lock(path: string): (() => void) | undefined {
  try {
    return lockFile(path, 0)
  } catch (error) {
    if (error instanceof NoSqlite) throw error
    return undefined
  }
}
