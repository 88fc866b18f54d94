import { chmodSync, closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { readConfig } from '../config/read-config.ts'
import { syncPath } from '../store/durable-files.ts'
import { readDatabase } from '../store/sqlite-reader.ts'
import { assertPlants } from '../store/sqlite-schema.ts'

/** Returns the path of STORE_URL. Throws when that is another store's, whose own tools make a copy. */
export function sqlitePath(environment: NodeJS.ProcessEnv): string {
  const { storeUrl } = readConfig({ STORE_URL: environment.STORE_URL })
  const [, path] = /^sqlite:(.+)$/.exec(storeUrl) ?? []
  if (path === undefined) throw new Error('STORE_URL is no sqlite:PATH; use the tools of that store')
  return path
}

/** Reads a file of plants with `use`. Throws one line that names the file when it is no such file or cannot be read. */
export function readPlants<Result>(path: string, use: (database: Database) => Result): Result {
  if (!existsSync(path)) throw new Error(`${path} does not exist`)
  try {
    return readDatabase(path, (database) => {
      assertPlants(database)
      return use(database)
    })
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error })
  }
}

/** Returns what SQLite finds wrong in a database, and the number of plants in one without faults. */
export function examine(database: Database): { problems: string[]; plants: number } {
  const found = database.pragma('quick_check') as { quick_check: string }[]
  const lines = found.flatMap(({ quick_check }) => quick_check.split('\n'))
  const problems = lines.filter((line) => line !== 'ok' && !line.startsWith('***'))
  if (problems.length > 0) return { problems, plants: 0 }
  return { problems, plants: database.prepare('SELECT count(*) FROM plants').pluck().get() as number }
}

/** Returns the number of plants in a file. Throws one line when the file is damaged. */
export function assertSound(path: string): number {
  const { problems, plants } = readPlants(path, examine)
  if (problems.length > 0) throw new Error(`${path} is damaged: ${problems[0]}`)
  return plants
}

/**
 * Copies a file of plants, as it is at one moment, into a new file that is examined and synced, and returns the number
 * of its plants. Throws one line when a file cannot be used, and has then removed the copy.
 */
export function copyPlants(from: string, to: string): number {
  try {
    // A copy must not be open to more users than the file, at no moment.
    closeSync(openSync(to, 'wx', 0o600))
    readPlants(from, (database) => database.prepare('VACUUM INTO ?').run(to))
    chmodSync(to, statSync(from).mode & 0o777)
    const plants = assertSound(to)
    syncPath(to)
    return plants
  } catch (error) {
    rmSync(to, { force: true })
    throw error
  }
}
