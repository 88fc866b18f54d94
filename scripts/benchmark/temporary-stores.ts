import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '../postgres/temporary-postgres.ts'
import { testDatabase } from '../postgres/test-database.ts'

export type TemporaryStores = {
  /** The directory of SQLite files. */
  directory: string
  /**
   * Creates an empty PostgreSQL database and returns its URL. The server is TEST_DATABASE_URL, or one that the first
   * call starts.
   */
  postgres(): Promise<string>
}

/** Runs a function with temporary stores below the directory `parent`, and removes the stores at the end. */
export async function withTemporaryStores(
  parent: string,
  run: (stores: TemporaryStores) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(parent, 'plant-store-'))
  const cleanUps = [() => rm(directory, { recursive: true })]
  const postgres = async () => {
    process.env.TEST_DATABASE_URL ??= (await startPostgres({ parent })).url()
    return await testDatabase({ teardown: (cleanUp) => cleanUps.push(cleanUp) })
  }
  try {
    await run({ directory, postgres })
  } finally {
    // A failed cleanup must not hide the error of the run.
    await Promise.allSettled(cleanUps.map((cleanUp) => cleanUp()))
  }
}
