import type Database from 'better-sqlite3'
import type { CreateOutcome, StoredPlant } from './plant-store.ts'

export type Commit = (batch: StoredPlant[]) => CreateOutcome[]

/** Returns what creates plants in one transaction. */
export function committer(database: Database.Database): Commit {
  const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const select = database.prepare<[bigint], { name: string; tag: string | null }>(
    'SELECT name, tag FROM plants WHERE id = ?',
  )
  const create = ({ id, name, tag = null as never }: StoredPlant): CreateOutcome => {
    if (insert.run(id, name, tag).changes === 1) return 'created'
    const kept = select.get(id)
    return kept?.name === name && kept.tag === tag ? 'identical' : 'conflict'
  }
  return database.transaction((batch: StoredPlant[]) => batch.map(create)).immediate
}

/**
 * Leaves the file to others for as long as each commit takes: SQLite has no queue for its lock, and who comes back at once
 * would always be the first.
 */
export function politely(commit: Commit): Commit {
  const never = new Int32Array(new SharedArrayBuffer(4))
  return (batch) => {
    const started = performance.now()
    try {
      return commit(batch)
    } finally {
      Atomics.wait(never, 0, 0, performance.now() - started)
    }
  }
}
