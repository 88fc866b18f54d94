import { statSync } from 'node:fs'
import pg from 'pg'
import { openSqliteFile } from '../../src/store/sqlite/sqlite-driver.ts'
import { until } from '../system/poll.ts'

/** Measures the storage of an open store. Nothing else may use the store or its PostgreSQL server. */
export type StoredBytes = {
  /** Returns the bytes of the table and its indexes. */
  size(): Promise<number>
  /** Returns the bytes that `run` adds to the write-ahead log after a checkpoint. */
  loggedAfterCheckpoint(run: () => Promise<void>): Promise<number>
  /** Returns the bytes ever written to the write-ahead log, or undefined if the store does not count them. */
  logSize(): Promise<number | undefined>
  close(): Promise<void>
}

/** Measures a SQLite file while the store has it open. */
export function sqliteBytes(path: string): StoredBytes {
  const database = openSqliteFile(path, { fileMustExist: true })
  // Retries, because the checkpoint is busy while the store runs its own, once a second.
  const isEmptied = () => (database.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }])[0].busy === 0
  const emptyLog = () => until(isEmptied, `the write-ahead log of ${path} to be emptied`)
  return {
    async size() {
      await emptyLog()
      return statSync(path).size
    },
    async loggedAfterCheckpoint(run) {
      await emptyLog()
      // A read transaction keeps SQLite from restarting the log, so the size of the log is everything written to it.
      database.exec('BEGIN; SELECT 1 FROM plants LIMIT 1')
      try {
        await run()
        return statSync(`${path}-wal`).size
      } finally {
        database.exec('COMMIT')
      }
    },
    logSize: async () => undefined,
    close: async () => void database.close(),
  }
}

/** Measures a PostgreSQL database. Its user needs the right to run CHECKPOINT. */
export async function postgresBytes(url: string): Promise<StoredBytes> {
  const client = new pg.Client(url)
  await client.connect()
  const numberOf = async (sql: string) => Number((await client.query({ text: sql, rowMode: 'array' })).rows[0]?.[0])
  const logSize = () => numberOf("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")
  return {
    size: () => numberOf("SELECT pg_total_relation_size('plants')"),
    async loggedAfterCheckpoint(run) {
      await client.query('CHECKPOINT')
      const before = await logSize()
      await run()
      return (await logSize()) - before
    },
    logSize,
    close: () => client.end(),
  }
}
