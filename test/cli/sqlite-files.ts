import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { plantBatch } from '../../src/store/sqlite/sqlite-batch.ts'
import { openDatabase } from '../../src/store/sqlite/sqlite-database.ts'
import { openSqliteFile } from '../../src/store/sqlite/sqlite-driver.ts'

/** Writes a file with plants of these ids, in the state after a graceful shutdown. */
export function makeStore(path: string, ...ids: bigint[]): void {
  mkdirSync(dirname(path), { recursive: true })
  const { commit, close } = openDatabase(path)
  commit(plantBatch(ids.map((id) => ({ id, name: 'a' }))))
  close()
}

/** Writes a file with plants of these ids, in the state after kill -9: the plants are in the write-ahead log. */
export function makeKilledStore(path: string, ...ids: bigint[]): void {
  const running = join(dirname(path), 'running', 'plants.db')
  mkdirSync(dirname(running), { recursive: true })
  const { commit, close } = openDatabase(running)
  commit(plantBatch(ids.map((id) => ({ id, name: 'a' }))))
  for (const suffix of ['', '-wal', '-shm', '-lock']) cpSync(running + suffix, path + suffix)
  close()
  rmSync(dirname(running), { recursive: true })
}

/** Opens a file as the service does, then returns the ids of its plants. */
export function servedIds(path: string): unknown[] {
  openDatabase(path).close()
  return idsIn(path)
}

/** Overwrites the end of a page, so that SQLite can read the file but finds errors; returns the new content. */
export function damage(path: string): Buffer {
  const bytes = readFileSync(path).fill(0xff, 3 * 4_096 + 2_000, 4 * 4_096)
  writeFileSync(path, bytes)
  return bytes
}

/** Returns the ids in a file, in order. */
export function idsIn(path: string): unknown[] {
  const database = openSqliteFile(path, {})
  try {
    const select = database.prepare('SELECT id FROM plants ORDER BY id')
    select.setReadBigInts(true)
    return select.all().map(({ id }) => Number(id))
  } finally {
    database.close()
  }
}
