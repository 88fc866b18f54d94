import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Report } from '../scenarios/scenario-report.ts'
import { isPlant } from './generated-plants.ts'
import type { Journal } from './outcomes.ts'

type Row = Parameters<typeof isPlant>[0]

/** What is wrong in a file: all must be zero, and `intact`. */
export type FileFindings = {
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
export function inspect(path: string, { sent, acknowledged }: Journal, { readonly = true } = {}): FileFindings {
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

/** Reports on a SQLite file that no process has open: it must have what was acknowledged, and nothing but what was sent. */
export function reportFile(report: Report, path: string, journal: Journal): void {
  const { lost, phantoms, intact } = inspect(path, journal)
  report.notZero('acknowledged', journal.acknowledged.size)
  report.zero('lost', lost)
  report.zero('phantom', phantoms)
  report.zero('integrity checks failed', intact ? 0 : 1)
}

function plantsIn(database: Database.Database): Iterable<Row> {
  // A file from before the first commit has no tables.
  const isEmpty = database.prepare('SELECT name FROM sqlite_schema').get() === undefined
  return isEmpty ? [] : database.prepare<[], Row>('SELECT id, name, tag FROM plants').iterate()
}
