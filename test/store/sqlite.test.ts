import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { openStore } from '../../src/store/open.ts'
import { conformance } from './conformance.ts'

for (const [name, run] of Object.entries(conformance)) {
  t.test(name, (t) => {
    const url = `sqlite:${join(t.testdir({}), 'deep', 'er', 'plants.db')}`
    return t.resolves(run(() => openStore(url), true))
  })
}

t.test('the file is made to last', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  const store = await openStore(`sqlite:${path}`)
  await store.create({ id: 2n ** 63n - 1n, name: 'a' })
  await store.close()
  const database = new Database(path)
  t.equal(database.pragma('journal_mode', { simple: true }), 'wal')
  t.equal(database.pragma('user_version', { simple: true }), 1)
  t.equal(database.pragma('integrity_check', { simple: true }), 'ok')
  t.same(database.prepare('SELECT * FROM plants').safeIntegers().get(), { id: 2n ** 63n - 1n, name: 'a', tag: null })
  t.match(database.prepare('SELECT sql FROM sqlite_schema').pluck().get(), /STRICT$/)
  database.close()
})

t.test('what cannot be opened is told', async (t) => {
  const directory = t.testdir({ 'text.db': 'x'.repeat(4096) })
  await t.rejects(openStore(`sqlite:${directory}/text.db`), /not a database/)
  await t.rejects(openStore(`sqlite:${directory}`), /unable to open|directory/)
  const newer = new Database(join(directory, 'newer.db'))
  newer.pragma('user_version = 99')
  newer.close()
  await t.rejects(openStore(`sqlite:${directory}/newer.db`), /schema version 99, newer than this service/)
  writeFileSync(join(directory, 'file'), '')
  await t.rejects(openStore(`sqlite:${directory}/file/plants.db`), /ENOTDIR|EEXIST/)
  await t.rejects(openStore('sqlite::memory:'), /it cannot be durable here/)
})

t.test('one owner has the file', async (t) => {
  const url = `sqlite:${join(t.testdir({}), 'plants.db')}`
  const store = await openStore(url)
  await t.rejects(openStore(url), { message: 'it is in use by another process' })
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
  await store.close()
  await (await openStore(url)).close()
})
