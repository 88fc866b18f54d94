import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openTables } from '../../../src/store/open.ts'
import type { StoredPlant } from '../../../src/store/plant-store.ts'
import { migrate } from '../../../src/store/schema-migration.ts'
import type { SchemaStep } from '../../../src/store/schema-step.ts'
import { openDatabase } from '../../../src/store/sqlite-database.ts'
import { openSqliteTables } from '../../../src/store/sqlite-migration.ts'
import { openSqliteReader } from '../../../src/store/sqlite-plant-reader.ts'
import { Database, requireSqlite } from '../../support/better-sqlite.ts'
import { exactly } from '../../support/exact-pattern.ts'
import { sqliteNote } from './note-steps.ts'

requireSqlite(t)

const pathIn = (t: Test) => join(t.testdir({}), 'plants.db')

/** Creates a plant after a probe, as the service of a release with these steps does. Returns the outcome. */
function createBy(path: string, steps: SchemaStep[], plant: StoredPlant) {
  const database = openDatabase(path, false, steps)
  try {
    database.probe()
    return database.commit([plant])[0]
  } finally {
    database.close()
  }
}

/** Runs `plant-store migrate` of a release with these steps: `expand`, or also `contract`. */
async function migrateBy(path: string, steps: SchemaStep[], contract = false) {
  const tables = openSqliteTables(path, steps)
  return await migrate(tables, contract).finally(tables.close)
}

/** Returns the file's schema version and the first column of a query's result. */
function inspect(path: string, sql: string): [unknown, unknown[]] {
  const database = new Database(path, { readonly: true })
  const found = [database.pragma('user_version', { simple: true }), database.prepare(sql).pluck().all()]
  database.close()
  return found as [unknown, unknown[]]
}

const history = 'SELECT version FROM plants_schema ORDER BY version'
const [expansion] = sqliteNote as [SchemaStep]

t.test('a release expands a new and a filled file, which the older release still opens', async (t) => {
  for (const first of [[], sqliteNote]) {
    const path = pathIn(t)
    t.equal(createBy(path, first, { id: 1n, name: 'a' }), 'created')
    for (const steps of [sqliteNote, [], sqliteNote]) {
      t.equal(createBy(path, steps, { id: 1n, name: 'a' }), 'identical')
      t.equal(createBy(path, steps, { id: 1n, name: 'b' }), 'conflict')
    }
    t.same(inspect(path, history), [2, [3]])
  }
})

t.test('a file is expanded and backfilled beside an older release whose creates continue', async (t) => {
  const path = pathIn(t)
  const old = openDatabase(path)
  const plants = Array.from({ length: 1_500 }, (_, id) => ({ id: BigInt(id), name: `plant ${id}` }))
  old.commit(plants)
  const last = 2n ** 63n - 1n
  const expanding = migrateBy(path, sqliteNote)
  old.commit([{ id: last, name: 'last' }])
  t.same(await expanding, { version: 3, filled: 1_501, left: sqliteNote.slice(1) })
  old.probe()
  t.same(old.commit([{ id: last, name: 'last' }]), ['identical'])
  t.same(old.commit([{ id: 5_000n, name: 'late' }]), ['created'])
  t.match(await migrateBy(path, sqliteNote), { filled: 1 })
  t.match(await migrateBy(path, sqliteNote), { filled: 0 })
  old.close()
  t.same(inspect(path, 'SELECT count(*) FROM plants WHERE note IS NOT upper(name)'), [2, [0]])
})

t.test('a contraction stops the older release with one line; a failed one changes nothing', async (t) => {
  const path = pathIn(t)
  t.equal(createBy(path, [], { id: 1n, name: 'a' }), 'created')
  const tables = openSqliteTables(path, sqliteNote)
  await t.rejects(tables.apply(sqliteNote), /NOT NULL constraint failed: noted\.note/)
  await tables.close()
  t.same(inspect(path, history), [2, [3]])
  t.same(await migrateBy(path, sqliteNote, true), { version: 4, filled: 1, left: [] })
  t.same(inspect(path, history), [3, [3, 4]])
  const newer = exactly('it has schema version 3, newer than version 2 of this service; run the newer service')
  t.throws(() => openDatabase(path), { message: newer })
  openDatabase(path, false, [expansion]).close()
  t.same(inspect(path, history), [3, [3, 4]], 'the release that expanded the schema still works')
  t.same(await migrateBy(path, sqliteNote, true), { version: 4, filled: 0, left: [] })
})

t.test('a reader that needs a newer schema reports it', async (t) => {
  const path = pathIn(t)
  t.equal(createBy(path, [], { id: 1n, name: 'a' }), 'created')
  const message = exactly('it has no schema version 3 yet; run plant-store migrate expand')
  t.throws(() => openSqliteReader(path, sqliteNote), { message })
  await migrateBy(path, sqliteNote)
  await openSqliteReader(path, sqliteNote).close()
})

t.test('a step that another process ran meanwhile is not repeated', async (t) => {
  const path = pathIn(t)
  const [first, second] = [openSqliteTables(path), openSqliteTables(path)]
  await first.apply([expansion])
  await second.apply([expansion])
  t.same(await second.read(), { applied: new Set([3]), oldest: 2 })
  await first.close()
  await second.close()
})

t.test('a new file of this release needs no migration, and a memory store is rejected', async (t) => {
  const path = pathIn(t)
  const tables = await openTables(`sqlite:${path}`)
  t.same(await migrate(tables, true), { version: 2, filled: 0, left: [] })
  await tables.close()
  t.same(inspect(path, 'SELECT name FROM sqlite_schema'), [2, ['plants']])
  await t.rejects(openTables('memory:'), /^the commands cannot open this kind of store/)
})
