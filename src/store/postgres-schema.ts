import { setTimeout as sleep } from 'node:timers/promises'
import type { Primary } from './postgres-primary.ts'
import { assertKnown, newestVersion, type SchemaState, type SchemaStep } from './schema-step.ts'

/**
 * Milliseconds that a step waits for a lock of the table, and creates behind it. They are more than the server's
 * deadlock_timeout, one second, after which it ends an autovacuum that holds the lock.
 */
const lockTimeout = 2_000
/** Milliseconds for which steps are tried again while others hold locks, or take the same step. */
const patience = 20_000

/**
 * SQLSTATE of what another transaction is to blame for: a lock that is not given, a failed serialization, a deadlock, and
 * what an instance meets that makes the same table or takes the same step at the same time.
 */
const contended = /^(55P03|40001|40P01|23505|42P07|42710|XX000)$/
const undefinedTable = '42P01'

/** What to do, by the SQLSTATE of the error that a step ends with. */
const remedies: Record<string, string> = {
  '42501': 'run plant-store migrate expand as the owner of the table plants',
  '55P03': 'end the transactions that keep a lock of the table plants, and try again',
}

/** A row for each step. A database without the table, or without a row, has version 1. */
const makeHistory = `
  CREATE TABLE IF NOT EXISTS plants_schema (version bigint PRIMARY KEY, oldest bigint NOT NULL);
  GRANT SELECT ON plants_schema TO PUBLIC`

// To ask for a table that is missing would leave an error in the log of the server at each start.
const findHistory = "SELECT table_name FROM information_schema.tables WHERE table_name = 'plants_schema'"

/** Returns which steps a database has had. */
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
    // That table is in a schema which this user does not search.
    if ((error as { code?: string }).code === undefinedTable) return []
    throw error
  }
}

type Steps = {
  /** Those that this instance knows. */
  steps: SchemaStep[]
  /** Those that are to be taken. */
  asked: SchemaStep[]
  /** Makes the table of version 1 where it is missing. */
  table?: string
  limit?: number
}

/**
 * Runs the steps that a database has not had, each in a transaction with its row: the row makes instances that run the
 * same step wait for each other. Rejects with one line when the database is too new for this instance, or when a step
 * fails or waits longer than `limit` milliseconds.
 */
export async function takePostgresSteps(primary: Primary, { steps, asked, table = '', limit }: Steps): Promise<void> {
  const { applied, oldest } = await readSchema(primary)
  assertKnown(oldest, newestVersion(1, steps))
  for (const step of asked) {
    if (applied.has(step.version)) continue
    const take = () => takeStep(primary, step, table)
    await whileContended(take, limit).catch((error) => {
      throw failureOf(step, error)
    })
  }
}

async function takeStep(primary: Primary, { version, sql, oldest = 1 }: SchemaStep, table: string): Promise<void> {
  const { applied, hasHistory } = await readSchema(primary)
  if (applied.has(version)) return
  if (!hasHistory) await primary.query(`${table}; ${makeHistory}`)
  const row = `INSERT INTO plants_schema (version, oldest) VALUES (${version}, ${oldest})`
  await primary.query(`BEGIN; SET LOCAL lock_timeout = ${lockTimeout}; ${row}; ${sql}; COMMIT`)
}

/** Runs `attempt` again while another transaction is to blame for its failure, for `limit` milliseconds. */
export async function whileContended<Result>(attempt: () => Promise<Result>, limit = patience): Promise<Result> {
  const deadline = performance.now() + limit
  for (;;) {
    const started = performance.now()
    try {
      return await attempt()
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (!contended.test(code) || performance.now() > deadline) throw error
      // Creates go on for at least as long as they had to wait, and instances that failed together do not return together.
      await sleep((performance.now() - started) * (1 + Math.random()))
    }
  }
}

function failureOf({ version }: SchemaStep, { code = '', message }: Error & { code?: string }): Error {
  const remedy = remedies[code] ?? 'the tables are left as they were'
  return new Error(`schema version ${version} cannot be made: ${message}; ${remedy}`)
}
