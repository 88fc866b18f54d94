import type Database from 'better-sqlite3'

/**
 * Returns a function that commits as a create does but leaves no plant. It throws when the table or a column is
 * missing. To have something to commit, it writes the schema version unchanged.
 */
export function createProbe(database: Database.Database): () => void {
  const insertNothing = database.prepare("INSERT INTO plants (id, name, tag) SELECT 0, '', NULL WHERE false")
  const probe = database.transaction(() => {
    insertNothing.run()
    database.pragma(`user_version = ${database.pragma('user_version', { simple: true })}`)
  })
  return probe.immediate
}
