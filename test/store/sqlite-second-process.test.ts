import { existsSync, linkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openForReading, openStore } from '../../src/store/open.ts'
import { openDatabase } from '../../src/store/sqlite/sqlite-database.ts'
import { requireSqlite } from '../support/better-sqlite.ts'
import { exactly } from '../support/exact-pattern.ts'

requireSqlite(t)

t.test('one process at a time has a file open, and the next one sees its plants', async (t) => {
  const path = join(t.testdir({}), 'deep', 'plants.db')
  const service = openDatabase(path)
  t.throws(() => openDatabase(path), { message: /^it is in use by another process$/ })
  t.same(service.commit([{ id: 1n, name: 'a' }]), ['created'])
  service.close()
  const successor = openDatabase(path)
  t.same(successor.commit([{ id: 1n, name: 'a' }]), ['identical'])
  successor.close()
  t.notOk(existsSync(`${path}-wal`))
})

t.test('a file with several hard links is rejected', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  openDatabase(path).close()
  linkSync(path, join(directory, 'other.db'))
  t.throws(() => openDatabase(path), { message: /^it has several hard links/ })
})

t.test('a store can be read beside its service', async (t) => {
  const url = `sqlite:${join(t.testdir({}), 'plants.db')}`
  const service = await openStore(url)
  await service.create({ id: 1n, name: 'a' })
  const reader = await openForReading(url)
  t.same(await reader.list(1n, 10), [{ id: 1n, name: 'a' }])
  await reader.close()
  await service.close()
  for (const url of ['memory:', 'nothing']) {
    const message = exactly('only the service can read this store; expected sqlite:PATH or postgres://…')
    await t.rejects(openForReading(url), { message })
  }
})
