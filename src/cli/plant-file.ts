import { chmodSync, closeSync, openSync, rmSync, statSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { readConfig } from '../../packages/fastify-contract/src/service/config.ts'
import { syncPath } from '../store/durable-files.ts'
import { readDatabase } from '../store/sqlite-reader.ts'
import { assertPlants } from '../store/sqlite-schema.ts'

/** Returns the path of the SQLite file of STORE_URL. Throws when STORE_URL names another kind of store. */
export function sqlitePath(environment: NodeJS.ProcessEnv): string {
  const { storeUrl } = readConfig({ STORE_URL: environment.STORE_URL })
  const [, path] = /^sqlite:(.+)$/.exec(storeUrl) ?? []
  if (path === undefined) throw new Error('STORE_URL is not sqlite:PATH; use the tools of that database')
  return path
}

/**
 * Opens a SQLite file of plants read-only, and returns the result of `use`. Throws one line that names the file when it
 * is not such a file or cannot be read.
 */
export function readPlants<Result>(path: string, use: (database: Database) => Result): Result {
  try {
    return readDatabase(path, (database) => {
      assertPlants(database)
      return use(database)
    })
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error })
  }
}

/** Returns the problems that SQLite finds in a database, and the number of plants when there are none. */
export function examine(database: Database): { problems: string[]; plants: number } {
  const found = database.pragma('quick_check') as { quick_check: string }[]
  const lines = found.flatMap(({ quick_check }) => quick_check.split('\n'))
  const problems = lines.filter((line) => line !== 'ok' && !line.startsWith('***'))
  if (problems.length > 0) return { problems, plants: 0 }
  return { problems, plants: database.prepare('SELECT count(*) FROM plants').pluck().get() as number }
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
  try {
    // The copy must never be readable by more users than the file.
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
