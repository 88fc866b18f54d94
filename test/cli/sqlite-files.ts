import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openDatabase } from '../../src/store/sqlite-database.ts'
import { Database } from '../support/better-sqlite.ts'

/** Makes a file with plants of these ids, as a service leaves it that ends. */
export function makeStore(path: string, ...ids: bigint[]): void {
  mkdirSync(dirname(path), { recursive: true })
  const { commit, close } = openDatabase(path)
  commit(ids.map((id) => ({ id, name: 'a' })))
  close()
}

/** Makes a file with plants of these ids, as a service leaves it that is killed: they are in the journal. */
export function makeKilledStore(path: string, ...ids: bigint[]): void {
  const running = join(dirname(path), 'running', 'plants.db')
  mkdirSync(dirname(running), { recursive: true })
  const { commit, close } = openDatabase(running)
  commit(ids.map((id) => ({ id, name: 'a' })))
  for (const suffix of ['', '-wal', '-shm', '-lock']) cpSync(running + suffix, path + suffix)
  close()
  rmSync(dirname(running), { recursive: true })
}

/** Opens a file as the service does, and returns the ids of its plants. */
export function servedIds(path: string): unknown[] {
  openDatabase(path).close()
  return idsIn(path)
}

/** Overwrites the end of a page, so that SQLite can read the file and finds problems. Returns what the file has then. */
export function damage(path: string): Buffer {
  const bytes = readFileSync(path).fill(0xff, 3 * 4_096 + 2_000, 4 * 4_096)
  writeFileSync(path, bytes)
  return bytes
}

export function idsIn(path: string): unknown[] {
  const database = new Database(path)
  try {
    return database.prepare('SELECT id FROM plants ORDER BY id').pluck().all()
  } finally {
    database.close()
  }
}
