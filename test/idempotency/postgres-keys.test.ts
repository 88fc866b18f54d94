import { setTimeout as sleep } from 'node:timers/promises'
import {
  type KeyStore,
  type PostgresConnection,
  type PostgresPool,
  postgresJsPool,
  postgresKeys,
  transactionalPostgresKeys,
} from 'fastify-contract/idempotency'
import { keyStoreConformance } from 'fastify-contract/idempotency-conformance'
import pg from 'pg'
import t, { type Test } from 'tap'
import { testDatabase } from '../../scripts/postgres/test-database.ts'

/** Opens pools of one empty database, which the end of the test closes. */
async function pools(t: Test) {
  const url = await testDatabase(t)
  const opened: pg.Pool[] = []
  t.teardown(async () => {
    for (const pool of opened) await pool.end()
  })
  return function openPool(max = 30): pg.Pool {
    const pool = new pg.Pool({ connectionString: url, max })
    pool.on('error', () => {})
    opened.push(pool)
    return pool
  }
}

const stores: Record<string, { isTransactional: boolean; create: (pool: pg.Pool, limits?: object) => KeyStore }> = {
  'with a lease': { isTransactional: false, create: postgresKeys },
  'in a transaction': { isTransactional: true, create: transactionalPostgresKeys },
}

for (const [kind, { isTransactional, create }] of Object.entries(stores))
  for (const [name, run] of Object.entries(keyStoreConformance))
    t.test(`keys in PostgreSQL, ${kind}: ${name}`, async (t) => {
      const openPool = await pools(t)
      await run(async (limits) => create(openPool(), limits), { isTransactional, wait: (time) => sleep(time) })
    })

const key = { id: 'A'.repeat(43), fingerprint: 'F'.repeat(43) }

/**
 * Claims the key. Throws if it is not free in time: PostgreSQL may take a moment to end the session of a connection that was
 * closed, and its lock.
 */
async function claimIn<Transaction>(store: KeyStore<Transaction>) {
  for (let tries = 200; ; tries--) {
    const outcome = await store.claim(key)
    if (outcome.state === 'claimed') return outcome.claim
    if (outcome.state !== 'running' || tries === 0) throw new Error(`the key is ${outcome.state}`)
    await sleep(25)
  }
}

const response = new Uint8Array(1)

/** Opens a transactional store beside a table of things. */
async function withThings(t: Test, limits = {}) {
  const openPool = await pools(t)
  const pool = openPool()
  await pool.query('CREATE TABLE things (id int PRIMARY KEY)')
  const things = async () => (await pool.query('SELECT id FROM things')).rows.map(({ id }) => id)
  return { pool, openPool, store: transactionalPostgresKeys(pool, limits), things }
}

t.test('the writes of a handler are committed with its response', async (t) => {
  const { store, things } = await withThings(t)
  const claim = await claimIn(store)
  await claim.transaction?.query('INSERT INTO things VALUES (1)')
  t.same(await things(), [])
  await claim.complete({ status: 201, response })
  t.same(await things(), [1])
  t.equal((await store.claim(key)).state, 'completed')
})

t.test('the writes of a handler are rolled back when its key is released', async (t) => {
  const { store, things } = await withThings(t)
  const claim = await claimIn(store)
  await claim.transaction?.query('INSERT INTO things VALUES (1)')
  await claim.release()
  t.same(await things(), [])
  await (await claimIn(store)).release()
})

t.test('the writes of a handler are committed if its response is not kept', async (t) => {
  const { store, things } = await withThings(t)
  const claim = await claimIn(store)
  await claim.transaction?.query('INSERT INTO things VALUES (1)')
  await claim.complete({ status: 200, response: undefined })
  t.same(await things(), [1])
  await (await claimIn(store)).release()
})

t.test('after a failed statement, an error response is kept without the writes, and a success is not', async (t) => {
  const { store, things } = await withThings(t)
  const write = async () => {
    const claim = await claimIn(store)
    await claim.transaction?.query('INSERT INTO things VALUES (1)')
    await t.rejects(Promise.resolve(claim.transaction?.query('INSERT INTO things VALUES (1)')), { code: '23505' })
    return claim
  }
  await t.rejects((await write()).complete({ status: 201, response }), { code: '25P02' })
  await t.rejects((await write()).complete({ status: 201, response: undefined }), { code: '25P02' })
  await (await write()).complete({ status: 409, response })
  t.same(await things(), [])
  t.equal((await store.claim(key)).state, 'completed')
})

t.test('with postgres, a lost connection is neither used nor released', async (t) => {
  const calls: string[] = []
  const reserved = {
    async unsafe(text: string) {
      calls.push(text)
      throw Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' })
    },
    release: () => void calls.push('release'),
  }
  const connection = await postgresJsPool({ unsafe: async () => [], reserve: async () => reserved }).connect()
  await t.rejects(connection.query('SELECT 1'), { message: 'lost' })
  connection.release(true)
  await sleep(0)
  t.same(calls, ['SELECT 1'])
})

t.test('a connection that is lost frees the key, rolls back, and does not end the process', async (t) => {
  const { pool, store, things, openPool } = await withThings(t)
  const other = transactionalPostgresKeys(openPool())
  const claim = await claimIn(store)
  await claim.transaction?.query('INSERT INTO things VALUES (1)')
  t.equal((await other.claim(key)).state, 'running')
  await pool.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
       WHERE state = 'idle in transaction' AND datname = current_database()`,
  )
  await sleep(100)
  const next = await claimIn(other)
  await t.rejects(claim.complete({ status: 201, response }))
  t.same(await things(), [])
  await next.complete({ status: 201, response })
})

t.test('an instance that stops in a transaction keeps the key no longer than the lease', async (t) => {
  const { store, things } = await withThings(t, { lease: 200 })
  const stopped = await claimIn(store)
  await stopped.transaction?.query('INSERT INTO things VALUES (1)')
  await sleep(600)
  const next = await claimIn(store)
  await t.rejects(stopped.complete({ status: 201, response }))
  await next.complete({ status: 201, response })
  t.same(await things(), [])
})

t.test('a pool of pg and its clients have the types of the store', async (t) => {
  const pool: PostgresPool<PostgresConnection> = new pg.Pool()
  t.ok(pool)
})
