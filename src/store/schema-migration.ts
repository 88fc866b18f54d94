import { setTimeout as sleep } from 'node:timers/promises'
import type { PlantQueries } from './plant-store.ts'
import { type Backfill, newestVersion, type SchemaState, type SchemaStep } from './schema-step.ts'

/** The tables of a database that is open for a migration. Opening it has already run the steps that expand. */
export type SchemaTables = Pick<PlantQueries, 'count'> & {
  /** All steps that this release knows. */
  steps: SchemaStep[]
  /** The version of the tables before any step. */
  base: number
  read(): Promise<SchemaState>
  /** Applies the given steps that are missing. */
  apply(steps: SchemaStep[]): Promise<void>
  /** Runs a backfill on the plants from one id to another. Resolves with the number of rows changed. */
  fill(backfill: Backfill, from: bigint, last: bigint): Promise<number>
  close(): Promise<void>
}

export type Migration = {
  /** The newest version among the applied steps. */
  version: number
  /** The number of rows that the backfills changed. */
  filled: number
  /** The contracting steps that have not run. */
  left: SchemaStep[]
}

/** The maximum number of rows in one transaction of a backfill. */
const batch = 1_000
const lastId = 2n ** 63n - 1n

/**
 * Runs the backfills for rows that older instances wrote, and then, with `contract`, the steps that contract. Calls
 * `progress` with the number of rows that a backfill has read. The migration may be interrupted and run again.
 */
export async function migrate(
  tables: SchemaTables,
  contract: boolean,
  progress: (rows: number) => void = () => {},
): Promise<Migration> {
  const { oldest } = await tables.read()
  let filled = 0
  for (const { version, backfill } of tables.steps) {
    // Every instance that can still use the tables writes this column, so no row needs the backfill.
    if (backfill === undefined || version <= oldest) continue
    filled += await fillAll(tables, backfill, progress)
  }
  if (contract) await tables.apply(tables.steps)
  const { applied } = await tables.read()
  const isLeft = (step: SchemaStep) => !applied.has(step.version)
  const done = tables.steps.filter((step) => !isLeft(step))
  return { version: newestVersion(tables.base, done), filled, left: tables.steps.filter(isLeft) }
}

/** Backfills all rows in the order of their ids. Sleeps after each batch for as long as it took, to let creates run. */
async function fillAll(
  { count, fill }: SchemaTables,
  backfill: Backfill,
  progress: (rows: number) => void,
): Promise<number> {
  let rowsRead = 0
  let filled = 0
  let from = -(2n ** 63n)
  for (;;) {
    const started = performance.now()
    const rows = await count(from, batch)
    if (rows.last === undefined) return filled
    filled += await fill(backfill, from, rows.last)
    rowsRead += rows.count
    progress(rowsRead)
    if (rows.last === lastId) return filled
    from = rows.last + 1n
    await sleep(performance.now() - started)
  }
}
