import { existsSync } from 'node:fs'
import type { PlantReader } from './plant-store.ts'
import { queriesOf, queryRunner } from './sqlite-queries.ts'
import { openReadOnly } from './sqlite-reader.ts'
import { assertExpanded, assertPlants } from './sqlite-schema.ts'
import { sqliteSteps } from './sqlite-steps.ts'

/**
 * Opens a SQLite file to be read, while a service has it open or not. Each query is a transaction of its own, so that the
 * service's write-ahead log does not grow between them. Throws when it is no file of plants.
 */
export function openSqliteReader(path: string, steps = sqliteSteps): PlantReader {
  if (!existsSync(path)) throw new Error('it does not exist')
  const { database, close } = openReadOnly(path)
  try {
    assertPlants(database)
    assertExpanded(database, steps)
    const run = queryRunner(database)
    return { ...queriesOf(async (name, args) => run(name, args)), close: async () => close() }
  } catch (error) {
    close()
    throw error
  }
}
