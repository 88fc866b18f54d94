import type { Primary } from './postgres-primary.ts'

const undefinedTable = '42P01'

/** The version of the tables of this release. A database without a table plants_schema has it too. */
const version = 1

// A query of a missing table would log an error on the server at each start.
const findHistory = "SELECT table_name FROM information_schema.tables WHERE table_name = 'plants_schema'"

/** Rejects when a newer release has recorded in plants_schema that this release can no longer use the tables. */
export async function assertKnownSchema(query: Primary['query']): Promise<void> {
  if ((await query(findHistory)).length === 0) return
  const rows = await query<{ oldest: string }>('SELECT oldest FROM plants_schema').catch((error) => {
    // The table is in a schema outside this user's search_path.
    if (error.code === undefinedTable) return []
    throw error
  })
  const oldest = Math.max(version, ...rows.map((row) => Number(row.oldest)))
  if (oldest === version) return
  throw new Error(
    `it has schema version ${oldest}, newer than version ${version} of this service; run the newer service`,
  )
}

/**
 * Runs `use`, which needs the table. When the table is missing, runs `make` and then `use` again. Several instances may
 * do so at once: `make` then fails, in one of several ways, for all but one of them, but the table exists.
 */
export async function ensureTable(use: () => Promise<unknown>, make: () => Promise<unknown>): Promise<void> {
  try {
    await use()
  } catch (error) {
    if ((error as { code?: string }).code !== undefinedTable) throw error
    const failed = await make().then(
      () => undefined,
      (reason: Error) => reason,
    )
    await use().catch((stillMissing: Error) => {
      throw failed ?? stillMissing
    })
  }
}
