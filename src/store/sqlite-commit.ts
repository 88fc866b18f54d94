import type Database from 'better-sqlite3'
import type { CreateOutcome, StoredPlant } from './plant-store.ts'

export type Commit = (batch: StoredPlant[]) => CreateOutcome[]

/** Returns a function that creates a batch of plants in one transaction. It throws when none was created. */
export function createCommit(database: Database.Database): Commit {
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
 * Returns a commit that waits after each batch for as long as the batch took, with the file unlocked. SQLite has no
 * queue for its lock, so a writer that locked the file again at once would starve the others.
 */
export function yieldingCommit(commit: Commit): Commit {
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
