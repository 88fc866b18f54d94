import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { copyFileSync, linkSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { conformance } from '../../src/store/conformance.ts'
import { openStore } from '../../src/store/open.ts'
import type { CreateOutcome, PlantQueries, StoredPlant } from '../../src/store/plant-store.ts'
import { plantBatch } from '../../src/store/sqlite/sqlite-batch.ts'
import { openDatabase } from '../../src/store/sqlite/sqlite-database.ts'
import { sqliteQueries } from '../../src/store/sqlite/sqlite-queries.ts'
import { type JournalMessage, openSqlite } from '../../src/store/sqlite/sqlite-store.ts'
import { openFile, pragma, requireSqlite } from '../support/sqlite.ts'
import { querySuite } from './query-suite.ts'

requireSqlite(t)

for (const [name, run] of Object.entries(conformance))
  t.test(`in a SQLite file: ${name}`, (t) => {
    const url = `sqlite:${join(t.testdir({}), 'deep', 'er', 'plants.db')}`
    return t.resolves(run(() => openStore(url), true))
  })

for (const [name, run] of Object.entries(querySuite))
  t.test(`in a SQLite file: ${name}`, async (t) => {
    const { commit, query, close } = openDatabase(join(t.testdir({}), 'plants.db'))
    const asked = Object.keys(sqliteQueries).map((name) => [name, async (...args: unknown[]) => query(name, args)])
    const create = async (plant: StoredPlant) => commit(plantBatch([plant]))[0] as CreateOutcome
    await run({ ...(Object.fromEntries(asked) as PlantQueries), create })
    close()
  })

t.test('queries run in the thread, and a failed one does not fail the store', async (t) => {
  const store = await openSqlite(join(t.testdir({}), 'plants.db'))
  await t.rejects(store.list(2n ** 64n, 1), { name: 'Error', message: /too large/ })
  const plants = [
    { id: 1n, name: 'a' },
    { id: 2n ** 63n - 1n, name: 'b', tag: 'c' },
  ]
  const creates = plants.map((plant) => store.create(plant))
  t.same(await Promise.all(creates), ['created', 'created'])
  t.same(await store.list(0n, 10), plants)
  await store.close()
  await t.rejects(store.list(1n, 1), { message: /^the store is closed$/ })
})

t.test('the file has a write-ahead log, a schema version and a strict table', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  const store = await openStore(`sqlite:${path}`)
  await store.create({ id: 2n ** 63n - 1n, name: 'a' })
  await store.close()
  const database = openFile(path)
  t.equal(pragma(database, 'journal_mode'), 'wal')
  t.equal(pragma(database, 'user_version'), 2)
  t.equal(pragma(database, 'integrity_check'), 'ok')
  const select = database.prepare('SELECT * FROM plants')
  select.setReadBigInts(true)
  t.same({ ...select.get() }, { id: 2n ** 63n - 1n, name: 'a', tag: null })
  t.match(database.prepare('SELECT sql FROM sqlite_schema').get().sql, /STRICT$/)
  database.close()
})

t.test('a path that cannot be opened is reported', async (t) => {
  const directory = t.testdir({ 'text.db': 'x'.repeat(4096) })
  await t.rejects(
    openStore(`sqlite:${directory}/text.db`),
    /^it is not a SQLite database; check the path, or restore a backup$/,
  )
  await t.rejects(openStore(`sqlite:${directory}`), /unable to open|directory/)
  const newer = openFile(join(directory, 'newer.db'))
  pragma(newer, 'user_version = 99')
  pragma(newer, 'application_id = 1886154356')
  newer.close()
  await t.rejects(openStore(`sqlite:${directory}/newer.db`), /schema version 99, and this release supports up to 2/)
  writeFileSync(join(directory, 'file'), '')
  await t.rejects(openStore(`sqlite:${directory}/file/plants.db`), /ENOTDIR|EEXIST/)
})

t.test('a file of schema version 1 is upgraded with its plants', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  const first = openFile(path)
  first.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT')
  first.exec("INSERT INTO plants VALUES (1, 'a', NULL); PRAGMA user_version = 1")
  first.close()
  const store = await openStore(`sqlite:${path}`)
  t.equal(await store.create({ id: 1n, name: 'a' }), 'identical')
  await store.close()
  const last = openFile(path)
  t.equal(pragma(last, 'user_version'), 2)
  last.close()
})

t.test('the database of another program is rejected and unchanged', async (t) => {
  const directory = t.testdir({})
  for (const version of [0, 1, 2]) {
    const path = join(directory, `${version}.db`)
    const foreign = openFile(path)
    foreign.exec(`CREATE TABLE accounts (id INTEGER); PRAGMA user_version = ${version}`)
    foreign.close()
    const before = readFileSync(path)
    await t.rejects(openStore(`sqlite:${path}`), { message: /^it is not a plant-store database; check the path$/ })
    t.same(readFileSync(path), before)
  }
})

t.test(
  'a UTF-16 file of another program is rejected, and so is its write-ahead log beside a file of ours',
  async (t) => {
    const directory = t.testdir({})
    const [foreign, own] = [join(directory, 'foreign.db'), join(directory, 'own.db')]
    await (await openSqlite(own)).close()
    const database = openFile(foreign)
    database.exec("PRAGMA encoding = 'UTF-16'; PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
    copyFileSync(`${foreign}-wal`, `${own}-wal`)
    database.close()
    const message = 'it, or its write-ahead log, is of another program, because it has UTF-16; check the path'
    await t.rejects(openSqlite(foreign), { message })
    await t.rejects(openSqlite(own), { message })
  },
)

t.test("the write-ahead log of another program's killed process is unchanged", async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'foreign.db')
  const running = openFile(join(directory, 'running.db'))
  pragma(running, 'journal_mode = WAL')
  running.exec('CREATE TABLE accounts (id INTEGER)')
  for (const suffix of ['', '-wal']) copyFileSync(join(directory, `running.db${suffix}`), path + suffix)
  running.close()
  const files = [path, `${path}-wal`]
  const before = files.map((file) => readFileSync(file))
  t.ok(before[1]?.length)
  await t.rejects(openStore(`sqlite:${path}`), { message: /^it is not a plant-store database; check the path$/ })
  t.same(
    files.map((file) => readFileSync(file)),
    before,
  )
})

t.test('a symbolic link does not bypass the lock, and hard links are rejected', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  const store = await openStore(`sqlite:${path}`)
  symlinkSync(path, join(directory, 'symbolic.db'))
  await t.rejects(openStore(`sqlite:${directory}/symbolic.db`), { message: /^it is in use by another process$/ })
  linkSync(path, join(directory, 'hard.db'))
  await t.rejects(openStore(`sqlite:${directory}/hard.db`), { message: /^it has several hard links/ })
  await store.close()
  rmSync(join(directory, 'hard.db'))
  await (await openStore(`sqlite:${directory}/symbolic.db`)).close()
})

t.test('a second store cannot open the same file', async (t) => {
  const url = `sqlite:${join(t.testdir({}), 'plants.db')}`
  const store = await openStore(url)
  await t.rejects(openStore(url), { message: /^it is in use by another process$/ })
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
  await store.close()
  await (await openStore(url)).close()
})

t.test('a lock of another program makes the store unavailable until its release', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  const store = await openStore(`sqlite:${path}`)
  const other = openFile(path)
  other.exec('BEGIN IMMEDIATE')
  await t.rejects(store.create({ id: 1n, name: 'a' }), { name: 'Unavailable', message: /^database is locked$/ })
  await t.rejects(store.ready(), { name: 'Unavailable' })
  other.exec('COMMIT')
  other.close()
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
  await store.close()
})

t.test('a plant that SQLite rejects fails alone', async (t) => {
  const store = await openStore(`sqlite:${join(t.testdir({}), 'plants.db')}`)
  const ids = [1n, 2n ** 64n, 3n]
  const settled = await Promise.allSettled(ids.map((id) => store.create({ id, name: 'a' })))
  t.same(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  await store.close()
})

t.test('a corrupt file is a permanent failure of the store', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  const store = await openStore(`sqlite:${path}`)
  const count = 100
  // More data than the page cache holds; the checkpoint below moves it to the database file.
  const fill = (id: number) => store.create({ id: BigInt(id), name: 'x'.repeat(256 * 1024) })
  await Promise.all(Array.from({ length: count }, (_, id) => fill(id)))
  const other = openFile(path)
  pragma(other, 'wal_checkpoint(TRUNCATE)')
  other.close()
  writeFileSync(path, Buffer.alloc(4096, 'x'))

  const settled = await Promise.allSettled(Array.from({ length: count }, (_, id) => fill(id)))
  t.same(
    new Set(settled.map((each) => each.status === 'rejected' && each.reason.message)),
    new Set(['the SQLite store has stopped after a file or disk error']),
  )
  t.match(await store.failure, { message: /malformed|not a database|disk I\/O error/ })
  await t.rejects(store.create({ id: 0n, name: 'a' }), { name: 'Unavailable' })
  await t.rejects(store.ready(), { name: 'Unavailable' })
  await store.close()
})

/** Opens a store in a new directory, and a second connection to its file, like another program. */
async function openBoth(t: Test) {
  const path = join(t.testdir({}), 'plants.db')
  const store = await openStore(`sqlite:${path}`)
  const other = openFile(path)
  t.teardown(async () => {
    other.close()
    await store.close()
  })
  return { path, store, other }
}

t.test('readiness is proved by a commit without a plant', async (t) => {
  const { store, other } = await openBoth(t)
  const commits = () => pragma(other, 'data_version')
  const before = commits()
  await store.ready()
  t.not(commits(), before)
  t.equal(other.prepare('SELECT count(*) AS plants FROM plants').get().plants, 0)
})

t.test('the store is not ready while its table or a column is renamed', async (t) => {
  const { store, other } = await openBoth(t)
  other.exec('ALTER TABLE plants RENAME TO flowers')
  await t.rejects(store.ready(), /no such table: plants/)
  other.exec('ALTER TABLE flowers RENAME TO plants')
  await store.ready()
  other.exec('ALTER TABLE plants RENAME COLUMN name TO label')
  await t.rejects(store.ready(), /no column named name/)
  other.exec('ALTER TABLE plants RENAME COLUMN label TO name')
  await store.ready()
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
})

t.test('writes fail while the file or its journal has been replaced', async (t) => {
  const { path, store } = await openBoth(t)
  const away = `${path}.away`
  const displaced: [string, string, (file: string) => void][] = [
    ['removed', path, () => {}],
    ['replaced', path, (file) => writeFileSync(file, '')],
    ['replaced by a link that leads nowhere', path, (file) => symlinkSync(file, file)],
    ['removed', `${path}-wal`, () => {}],
    ['replaced', `${path}-wal`, (file) => writeFileSync(file, '')],
  ]
  for (const [index, [how, file, replace]] of displaced.entries()) {
    const plant = { id: BigInt(index), name: 'a' }
    renameSync(file, away)
    replace(file)
    const rejection = { name: 'Unavailable', message: /^\/.* was removed or replaced while it was in use; put it back/ }
    await t.rejects(store.create(plant), rejection, `${file} ${how}`)
    await t.rejects(store.ready(), rejection, `${file} ${how}`)
    rmSync(file, { force: true })
    renameSync(away, file)
    await store.ready()
    t.equal(await store.create(plant), 'created', 'creates succeed once the file is back')
  }
})

t.test('the size of the write-ahead log is reported after each commit and probe', async (t) => {
  const { path, store, other } = await openBoth(t)
  const sizes: number[] = []
  const keep = (message: unknown) => sizes.push((message as JournalMessage).bytes)
  subscribe('plant-store:sqlite-journal', keep)
  t.teardown(() => unsubscribe('plant-store:sqlite-journal', keep))
  // An open read transaction, which keeps checkpoints from restarting the write-ahead log.
  other.exec('BEGIN; SELECT * FROM plants')
  await store.create({ id: 1n, name: 'x'.repeat(100_000) })
  await store.ready()
  t.equal(sizes.length, 2)
  t.ok((sizes[0] as number) > 100_000)
  t.equal(sizes[1], statSync(`${path}-wal`).size)
  renameSync(`${path}-wal`, `${path}.away`)
  await t.rejects(store.ready())
  renameSync(`${path}.away`, `${path}-wal`)
  t.equal(sizes[2], 0)
})

t.test('the write-ahead log is truncated to 64 MiB once its reader is gone', async (t) => {
  const { path, store, other } = await openBoth(t)
  const journal = () => statSync(`${path}-wal`).size
  const create = (id: number) => store.create({ id: BigInt(id), name: 'x'.repeat(1_000_000) })
  other.exec('BEGIN; SELECT * FROM plants')
  for (let id = 0; id < 70; id++) await create(id)
  t.ok(journal() > 2 ** 26, 'it grows during a read transaction')
  other.exec('COMMIT')
  pragma(other, 'wal_checkpoint(PASSIVE)')
  await store.ready()
  t.equal(journal(), 2 ** 26)
})
