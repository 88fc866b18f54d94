import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openStore } from '../../src/store/open.ts'
import type { JournalMessage } from '../../src/store/sqlite/sqlite-store.ts'
import { Database, requireSqlite } from '../support/better-sqlite.ts'

requireSqlite(t)

/** Opens a store in a new directory, and a second connection to its file, like another program. */
async function openBoth(t: Test) {
  const path = join(t.testdir({}), 'plants.db')
  const store = await openStore(`sqlite:${path}`)
  const other = new Database(path)
  t.teardown(async () => {
    other.close()
    await store.close()
  })
  return { path, store, other }
}

t.test('readiness is proved by a commit without a plant', async (t) => {
  const { store, other } = await openBoth(t)
  const commits = () => other.pragma('data_version', { simple: true })
  const before = commits()
  await store.ready()
  t.not(commits(), before)
  t.equal(other.prepare('SELECT count(*) FROM plants').pluck().get(), 0)
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
  other.pragma('wal_checkpoint(PASSIVE)')
  await store.ready()
  t.equal(journal(), 2 ** 26)
})
