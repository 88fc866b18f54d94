import { spawnProcess } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { type ClaimOutcome, type KeyStore, sqliteKeys } from '../../src/idempotency.ts'
import { type Database, drivers, opener, testDriver } from './sqlite-drivers.ts'

for (const [name, driver] of Object.entries(drivers)) testDriver(name, driver, 'this Node has none')

const key = (index: number) => ({ id: `id-${index}`, fingerprint: 'f' })

const claimOf = (outcome: ClaimOutcome) => (outcome as ClaimOutcome & { state: 'claimed' }).claim

const keep = async (store: KeyStore, index: number, bytes = 100) =>
  await claimOf(await store.claim(key(index))).complete({ status: 200, response: new Uint8Array(bytes) })

const sizeOf = (database: Database) => ({
  kept: { ...(database.prepare('SELECT keys, bytes FROM idempotency_keys_size').get() as object) },
  counted: {
    ...(database
      .prepare('SELECT count(*) AS keys, coalesce(sum(length(response)), 0) AS bytes FROM idempotency_keys')
      .get() as object),
  },
})

t.test('a full store takes no key more than its limit, by whatever process', async (t) => {
  const openFile = opener(t)
  const [one, other] = [sqliteKeys(openFile(), { keys: 200 }), sqliteKeys(openFile(), { keys: 200 })]
  for (let index = 0; index < 200; index++) await keep(index % 2 === 0 ? one : other, index)
  t.equal((await one.claim(key(200))).state, 'full')
  t.equal((await other.claim(key(200))).state, 'full')
})

t.test('the size of a store is known without a count after each change of its keys', async (t) => {
  const database = opener(t)()
  let time = 1_000
  const store = sqliteKeys(database, { retention: 1_000, lease: 100, now: () => time })
  const check = (keys: number, bytes: number, change: string) =>
    t.same(sizeOf(database), { kept: { keys, bytes }, counted: { keys, bytes } }, change)
  check(0, 0, 'new')
  for (const index of [1, 2]) await keep(store, index)
  check(2, 200, 'kept')
  await claimOf(await store.claim(key(3))).release()
  check(2, 200, 'released')
  const late = claimOf(await store.claim(key(4)))
  time += 100
  const next = claimOf(await store.claim(key(4)))
  check(3, 200, 'taken over')
  t.equal(await late.complete({ status: 200, response: new Uint8Array(7) }), false)
  await next.complete({ status: 200, response: new Uint8Array(5) })
  check(3, 205, 'kept by the second')
  time += 950
  await keep(store, 5, 1)
  check(2, 6, 'two expired')
})

t.test('a table that was made without its size gets that once, and again if the table was dropped', async (t) => {
  const openFile = opener(t)
  const database = openFile()
  database.exec(`
    CREATE TABLE idempotency_keys (id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, token TEXT NOT NULL,
      leased_until INTEGER NOT NULL, expires_at INTEGER NOT NULL, response BLOB) WITHOUT ROWID;
    INSERT INTO idempotency_keys VALUES ('id-1', 'f', '', 0, 9e15, x'0102')`)
  const store = sqliteKeys(database)
  t.equal((await store.claim(key(1))).state, 'completed')
  await keep(store, 2, 10)
  sqliteKeys(openFile())
  t.same(sizeOf(database).kept, { keys: 2, bytes: 12 })
  database.exec('DROP TABLE idempotency_keys')
  await keep(sqliteKeys(openFile()), 3, 5)
  t.same(sizeOf(openFile()).kept, { keys: 1, bytes: 5 })
})

t.test('a table of other columns is an error that leaves no transaction open', async (t) => {
  const database = opener(t)()
  database.exec('CREATE TABLE idempotency_keys (id TEXT PRIMARY KEY)')
  t.throws(() => sqliteKeys(database), { message: /expires_at/ })
  database.exec('BEGIN; COMMIT')
  t.throws(() => database.prepare('SELECT * FROM idempotency_keys_size'), { message: /no such table/ })
})

/** Prints the state of a key of a store whose database was opened elsewhere, after the garbage was collected. */
const program = `
  import { createRequire } from 'node:module'
  import { setTimeout as sleep } from 'node:timers/promises'
  import { sqliteKeys } from ${JSON.stringify(new URL('../../src/idempotency.ts', import.meta.url))}
  const require = createRequire(${JSON.stringify(import.meta.url)})
  const open = (name) => sqliteKeys(new (require(name).DatabaseSync)(':memory:'))
  const store = open(process.argv[1])
  for (let round = 0; round < 3; round++) {
    gc()
    await sleep(20)
  }
  console.log((await store.claim({ id: 'a', fingerprint: 'b' })).state)`

for (const [name, driver] of Object.entries(drivers))
  t.test(`a store by ${name} has a reference to its database`, { skip: driver === undefined }, async (t) => {
    const flags = ['--expose-gc', '--import=fastify-contract-test-support/register-strip-types.js']
    const command = [process.execPath, ...flags, '--input-type=module', '--eval', program, name]
    t.match(await spawnProcess(command).untilEnded(), { code: 0, stdout: 'claimed\n' })
  })

t.test('a table name that would need quotes is rejected', async (t) => {
  t.throws(() => sqliteKeys(opener(t)(), { table: 'a; DROP TABLE b' }), { message: /use lower-case letters/ })
})
