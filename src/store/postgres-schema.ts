import { setTimeout as sleep } from 'node:timers/promises'
import type { Primary } from './postgres-primary.ts'
import { assertKnown, newestVersion, type SchemaState, type SchemaStep } from './schema-step.ts'

/**
 * Milliseconds that a step, and the creates queued behind it, wait for a lock of the table. It is longer than the
 * server's deadlock_timeout of one second, after which the server ends an autovacuum that holds the lock.
 */
const lockTimeout = 2_000
/** Milliseconds during which a step is retried while other transactions hold locks or run the same step. */
const retryTime = 20_000

/**
 * SQLSTATEs that another transaction causes: lock timeout, serialization failure, deadlock, and the errors when another
 * instance creates the same table or runs the same step at the same time.
 */
const contended = /^(55P03|40001|40P01|23505|42P07|42710|XX000)$/
const undefinedTable = '42P01'

/** The remedy for a failed step, by the SQLSTATE of its error. */
const remedies: Record<string, string> = {
  '42501': 'run plant-store migrate expand as the owner of the table plants',
  '55P03': 'end the transactions that hold a lock on the table plants, and try again',
}

/** Creates the table of steps, with a row for each step. A database without that table or rows has version 1. */
const makeHistory = `
  CREATE TABLE IF NOT EXISTS plants_schema (version bigint PRIMARY KEY, oldest bigint NOT NULL);
  GRANT SELECT ON plants_schema TO PUBLIC`

// A query of a missing table would log an error on the server at each start.
const findHistory = "SELECT table_name FROM information_schema.tables WHERE table_name = 'plants_schema'"

/** Resolves with the steps that have been applied to a database. */
export async function readSchema(primary: Primary): Promise<SchemaState & { hasHistory: boolean }> {
  const hasHistory = (await primary.query(findHistory)).length > 0
  const rows = hasHistory ? await readHistory(primary) : []
  const oldest = Math.max(1, ...rows.map((row) => Number(row.oldest)))
  return { applied: new Set(rows.map(({ version }) => Number(version))), oldest, hasHistory: rows.length > 0 }
}

async function readHistory(primary: Primary): Promise<{ version: string; oldest: string }[]> {
  try {
    return await primary.query('SELECT version, oldest FROM plants_schema')
  } catch (error) {
    // The table is in a schema outside this user's search_path.
    if ((error as { code?: string }).code === undefinedTable) return []
    throw error
  }
}

type Steps = {
  /** The steps that this instance knows. */
  steps: SchemaStep[]
  /** The steps to run. */
  asked: SchemaStep[]
  /** The statement that creates the table of version 1 when it is missing. */
  table?: string
  limit?: number
}

/**
 * Runs the steps that are missing in a database, each in a transaction that also inserts its row. The row makes
 * instances that run the same step wait for each other. Rejects with one line when the database is too new for this
 * instance, or when a step fails or waits longer than `limit` milliseconds.
 */
export async function runPostgresSteps(primary: Primary, { steps, asked, table = '', limit }: Steps): Promise<void> {
  const { applied, oldest } = await readSchema(primary)
  assertKnown(oldest, newestVersion(1, steps))
  for (const step of asked) {
    if (applied.has(step.version)) continue
    const attempt = () => applyStep(primary, step, table)
    await whileContended(attempt, limit).catch((error) => {
      throw failureOf(step, error)
    })
  }
}

async function applyStep(primary: Primary, { version, sql, oldest = 1 }: SchemaStep, table: string): Promise<void> {
  const { applied, hasHistory } = await readSchema(primary)
  if (applied.has(version)) return
  if (!hasHistory) await primary.query(`${table}; ${makeHistory}`)
  const row = `INSERT INTO plants_schema (version, oldest) VALUES (${version}, ${oldest})`
  await primary.query(`BEGIN; SET LOCAL lock_timeout = ${lockTimeout}; ${row}; ${sql}; COMMIT`)
}

/** Runs `attempt`, and retries it for `limit` milliseconds while other transactions make it fail. */
export async function whileContended<Result>(attempt: () => Promise<Result>, limit = retryTime): Promise<Result> {
  const deadline = performance.now() + limit
  for (;;) {
    const started = performance.now()
    try {
      return await attempt()
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (!contended.test(code) || performance.now() > deadline) throw error
      // The pause lets creates run for at least as long as they had to wait. It is random to keep instances apart.
      await sleep((performance.now() - started) * (1 + Math.random()))
    }
  }
}

function failureOf({ version }: SchemaStep, { code = '', message }: Error & { code?: string }): Error {
  const remedy = remedies[code] ?? 'the tables are left as they were'
  return new Error(`schema version ${version} cannot be applied: ${message}; ${remedy}`)
}
