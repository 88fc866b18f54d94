import { existsSync } from 'node:fs'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { codeOf, openSqliteFile, pragma, type SqliteDatabase } from '../../src/store/sqlite/sqlite-driver.ts'
import { isPlant } from './generated-plants.ts'
import type { Journal } from './outcomes.ts'

type Row = Parameters<typeof isPlant>[0]

/** Defects of a database file. */
export type FileFindings = {
  /** Acknowledged plants that are missing or differ from what was sent. */
  lost: number
  /** Rows that were never sent or differ from what was sent. */
  phantoms: number
  /** Whether SQLite's integrity check passes. */
  intact: boolean
}

/**
 * Compares a SQLite file that no process has open with a journal. Read-only access leaves the file and its write-ahead
 * log as the crash left them, for the next start.
 */
export function inspect(path: string, { sent, acknowledged }: Journal, { readOnly = true } = {}): FileFindings {
  if (!existsSync(path)) return { lost: acknowledged.size, phantoms: 0, intact: true }
  let found = 0
  let phantoms = 0
  let intact = false
  try {
    const database = openSqliteFile(path, { readOnly })
    try {
      intact = pragma(database, 'integrity_check') === 'ok'
      for (const row of plantsIn(database)) {
        if (!isPlant(row) || !sent.has(row.id)) phantoms++
        else if (acknowledged.has(row.id)) found++
      }
    } finally {
      database.close()
    }
  } catch (error) {
    if (!codeOf(error).startsWith('SQLITE_')) throw error
    intact = false
  }
  return { lost: acknowledged.size - found, phantoms, intact }
}

/** Reports a closed SQLite file: it must have every acknowledged plant and nothing that was never sent. */
export function reportFile(report: Report, path: string, journal: Journal): void {
  const { lost, phantoms, intact } = inspect(path, journal)
  report.notZero('acknowledged', journal.acknowledged.size)
  report.zero('lost', lost)
  report.zero('phantom', phantoms)
  report.zero('integrity checks failed', intact ? 0 : 1)
}

function plantsIn(database: SqliteDatabase): Iterable<Row> {
  // Before the first commit the file has no tables.
  const isEmpty = database.prepare('SELECT name FROM store.sqlite_schema').get() === undefined
  if (isEmpty) return []
  const select = database.prepare('SELECT id, name, tag FROM plants')
  select.setReadBigInts(true)
  return select.iterate()
}
