import type { PlantReader } from './plant-store.ts'
import { queriesOf, queryRunner } from './sqlite-queries.ts'
import { openReadOnly } from './sqlite-reader.ts'
import { assertPlants } from './sqlite-schema.ts'

/**
 * Opens a SQLite file for reading, while a service may have it open. Each query is a transaction of its own, so that
 * the write-ahead log of the service does not grow between them. Throws when the file is missing, or has no table
 * of plants.
 */
export function openSqliteReader(path: string): PlantReader {
  const { database, close } = openReadOnly(path)
  try {
    assertPlants(database)
    const run = queryRunner(database)
    return { ...queriesOf(async (name, args) => run(name, args)), close: async () => close() }
  } catch (error) {
    close()
    throw error
  }
}
