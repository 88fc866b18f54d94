import { statSync } from 'node:fs'
import pg from 'pg'
import { openSqliteFile } from '../../src/store/sqlite-driver.ts'
import { until } from '../system/poll.ts'

/** Measures what the plants of an open store take. Nothing else may use the store, nor its PostgreSQL server. */
export type StoredBytes = {
  /** Returns the bytes of the table and its indexes. */
  size(): Promise<number>
  /** Returns the bytes that `run` adds to the write-ahead log, from a checkpoint on. */
  loggedAfterCheckpoint(run: () => Promise<void>): Promise<number>
  /** Returns the bytes ever written to the write-ahead log; undefined where nothing counts them. */
  logSize(): Promise<number | undefined>
  close(): Promise<void>
}

/** Measures a SQLite file beside the store that writes it. */
export function sqliteBytes(path: string): StoredBytes {
  const database = openSqliteFile(path, { fileMustExist: true })
  // The store itself brings the log into the file once a second.
  const isEmptied = () => (database.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }])[0].busy === 0
  const emptyLog = () => until(isEmptied, `the write-ahead log of ${path} to be emptied`)
  return {
    async size() {
      await emptyLog()
      return statSync(path).size
    },
    async loggedAfterCheckpoint(run) {
      await emptyLog()
      // As long as a transaction reads, the log cannot start anew: so its size is all that was written to it.
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

/** Measures a PostgreSQL database; its user needs the right to checkpoint. */
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
