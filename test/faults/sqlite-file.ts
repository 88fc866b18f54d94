import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Journal } from './load.ts'
import { isPlant } from './plants.ts'

/** What is wrong in a file: all must be zero, and `intact`. */
export type Findings = {
  /** How many acknowledged plants are missing, or are not what was sent. */
  lost: number
  /** How many rows were never sent, or are not what was sent. */
  phantoms: number
  /** SQLite's own check finds nothing. */
  intact: boolean
}

/**
 * Looks into a SQLite file that no process has open. Opened only to be read, it keeps what a crash left for the next
 * start, its journal too.
 */
export function inspect(path: string, { sent, acknowledged }: Journal, { readonly = true } = {}): Findings {
  if (!existsSync(path)) return { lost: acknowledged.size, phantoms: 0, intact: true }
  let found = 0
  let phantoms = 0
  let intact = false
  try {
    const database = new Database(path, { readonly }).defaultSafeIntegers()
    try {
      intact = database.pragma('integrity_check', { simple: true }) === 'ok'
      for (const row of plantsIn(database)) {
        if (!isPlant(row) || !sent.has(row.id)) phantoms++
        else if (acknowledged.has(row.id)) found++
      }
    } finally {
      database.close()
    }
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error
    intact = false
  }
  return { lost: acknowledged.size - found, phantoms, intact }
}

function plantsIn(database: Database.Database): Iterable<Parameters<typeof isPlant>[0]> {
  // A file from before the first commit has no tables.
  const isEmpty = database.prepare('SELECT name FROM sqlite_schema').get() === undefined
  return isEmpty
    ? []
    : database.prepare<[], Parameters<typeof isPlant>[0]>('SELECT id, name, tag FROM plants').iterate()
}
