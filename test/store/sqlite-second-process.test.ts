import { existsSync, linkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openForReading, openForWriting, openStore } from '../../src/store/open.ts'
import { openDatabase, yieldingCommit } from '../../src/store/sqlite/sqlite-database.ts'
import { Database, requireSqlite } from '../support/better-sqlite.ts'
import { exactly } from '../support/exact-pattern.ts'

requireSqlite(t)

const ofOutcome = { outcome: 'created' as const, plants: [{ id: 1n, name: 'a' }] }

t.test("two processes write one file and see each other's commits", async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  const service = openDatabase(path)
  const guest = openDatabase(path, true)
  t.throws(() => openDatabase(path), { message: /^it is in use by another process$/ })
  t.same(service.commit([{ id: 1n, name: 'a' }]), ['created'])
  t.same(
    guest.commit([
      { id: 1n, name: 'a' },
      { id: 2n, name: 'b' },
    ]),
    ['identical', 'created'],
  )
  t.same(service.commit([{ id: 2n, name: 'a' }]), ['conflict'])
  service.close()
  t.same(guest.commit([{ id: 3n, name: 'c' }]), ['created'], 'the guest outlives the service')
  const successor = openDatabase(path)
  t.same(successor.commit([{ id: 3n, name: 'c' }]), ['identical'], 'the service can restart')
  guest.close()
  successor.close()
  t.notOk(existsSync(`${path}-wal`))
})

t.test('an unused file is opened as by a service, and created when missing', async (t) => {
  const path = join(t.testdir({}), 'deep', 'plants.db')
  const first = openDatabase(path, true)
  t.throws(() => openDatabase(path), { message: /^it is in use by another process$/ })
  t.same(first.commit(ofOutcome.plants), [ofOutcome.outcome])
  first.close()
})

t.test('a file with several hard links, and a missing file whose lock is held, are rejected', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  const service = openDatabase(path)
  linkSync(path, join(directory, 'other.db'))
  t.throws(() => openDatabase(path, true), { message: /^it has several hard links/ })
  service.close()

  const lock = new Database(join(directory, 'none.db-lock'))
  lock.exec('BEGIN EXCLUSIVE')
  t.throws(() => openDatabase(join(directory, 'none.db'), true), { message: /^unable to open database file$/ })
  t.notOk(
    existsSync(join(directory, 'none.db')),
    'no file is created: a restore may be about to rename one to this path',
  )
  lock.close()
})

t.test('a writer beside a service yields for as long as its own commit took', async (t) => {
  const busy = (milliseconds: number) => {
    const end = performance.now() + milliseconds
    while (performance.now() < end);
  }
  const started = performance.now()
  yieldingCommit((batch) => {
    busy(50)
    return batch.map(() => 'created')
  })(ofOutcome.plants)
  t.ok(performance.now() - started >= 99)
  const failing = yieldingCommit(() => {
    throw new Error('locked')
  })
  t.throws(() => failing([]), { message: /^locked$/ })
})

t.test('a store can be opened beside its service, and read-only', async (t) => {
  const url = `sqlite:${join(t.testdir({}), 'plants.db')}`
  const service = await openStore(url)
  const guest = await openForWriting(url)
  t.equal(await guest.create({ id: 1n, name: 'a' }), 'created')
  t.equal(await service.create({ id: 1n, name: 'a' }), 'identical')
  const reader = await openForReading(url)
  t.same(await reader.list(1n, 10), [{ id: 1n, name: 'a' }])
  await reader.close()
  await guest.close()
  await service.close()
  for (const open of [openForReading, openForWriting] as ((url: string) => Promise<unknown>)[]) {
    for (const url of ['memory:', 'nothing']) {
      const message = `STORE_URL is "${url}": only the service can open this store; expected sqlite:PATH, postgres://… or cassandra://…`
      await t.rejects(open(url), { message: exactly(message) })
    }
  }
})
