import { setTimeout as sleep } from 'node:timers/promises'
import type { PlantQueries } from './plant-store.ts'
import { type Backfill, newestVersion, type SchemaState, type SchemaStep } from './schema-step.ts'

/** The tables of a database that is open for a migration; those that expand have been taken when it was opened. */
export type SchemaTables = Pick<PlantQueries, 'count'> & {
  /** What this version knows. */
  steps: SchemaStep[]
  /** The version of the tables that no step has made. */
  base: number
  read(): Promise<SchemaState>
  take(steps: SchemaStep[]): Promise<void>
  /** Fills in the plants from one id to another; resolves with the number of rows changed. */
  fill(backfill: Backfill, from: bigint, last: bigint): Promise<number>
  close(): Promise<void>
}

export type Migration = {
  /** The newest version of what was done to the tables. */
  version: number
  /** The rows that the backfills have changed. */
  filled: number
  /** What is left to contract. */
  left: SchemaStep[]
}

/** The rows that one transaction of a backfill reads. */
const batch = 1_000
const lastId = 2n ** 63n - 1n

/**
 * Fills in what older instances have left out of their rows, then takes the steps that contract where `contract` says so.
 * Tells `progress` of the number of rows that a backfill has passed. May end at any moment, and be run again.
 */
export async function migrate(
  tables: SchemaTables,
  contract: boolean,
  progress: (rows: number) => void = () => {},
): Promise<Migration> {
  const { oldest } = await tables.read()
  let filled = 0
  for (const { version, backfill } of tables.steps) {
    // Instances that leave it out can no longer use the tables.
    if (backfill === undefined || version <= oldest) continue
    filled += await fillAll(tables, backfill, progress)
  }
  if (contract) await tables.take(tables.steps)
  const { applied } = await tables.read()
  const isLeft = (step: SchemaStep) => !applied.has(step.version)
  const done = tables.steps.filter((step) => !isLeft(step))
  return { version: newestVersion(tables.base, done), filled, left: tables.steps.filter(isLeft) }
}

/** Goes through all rows in the order of their ids, and leaves the database to creates for as long as each batch took. */
async function fillAll(
  { count, fill }: SchemaTables,
  backfill: Backfill,
  progress: (rows: number) => void,
): Promise<number> {
  let passed = 0
  let filled = 0
  let from = -(2n ** 63n)
  for (;;) {
    const started = performance.now()
    const rows = await count(from, batch)
    if (rows.last === undefined) return filled
    filled += await fill(backfill, from, rows.last)
    passed += rows.count
    progress(passed)
    if (rows.last === lastId) return filled
    from = rows.last + 1n
    await sleep(performance.now() - started)
  }
}
