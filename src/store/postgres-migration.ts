import { openPostgres } from './postgres.ts'
import { openPrimary } from './postgres-primary.ts'
import { readSchema, runPostgresSteps, whileContended } from './postgres-schema.ts'
import { postgresSteps } from './postgres-steps.ts'
import { readPostgresUrl } from './postgres-url.ts'
import type { SchemaTables } from './schema-migration.ts'

/** Opens the PostgreSQL database of a URL for a migration. Instances may use it. Rejects as `openPostgres` does. */
export async function openPostgresTables(url: string, steps = postgresSteps): Promise<SchemaTables> {
  const store = await openPostgres(url, undefined, steps)
  const primary = openPrimary(readPostgresUrl(url))
  return {
    steps,
    base: 1,
    count: store.count,
    read: () => readSchema(primary),
    apply: (asked) => runPostgresSteps(primary, { steps, asked }),
    async fill({ set, where }, from, last) {
      const update = `UPDATE plants SET ${set} WHERE id BETWEEN $1 AND $2 AND (${where}) RETURNING id`
      const rows = await whileContended(() => primary.query(update, [from, last]))
      return rows.length
    },
    async close() {
      await primary.close()
      await store.close()
    },
  }
}
