import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { postgresJsPool, postgresKeys, transactionalPostgresKeys } from 'fastify-contract/idempotency'
import { keyStoreConformance } from 'fastify-contract/idempotency-conformance'
import t, { type Test } from 'tap'
import { testDatabase } from '../../scripts/postgres/test-database.ts'

type Sql = Parameters<typeof postgresJsPool>[0] & { end(options: { timeout: number }): Promise<void> }

/** The package postgres, which is installed beside the programs of PostgreSQL. */
const postgres: (url: string, options: object) => Sql = createRequire(
  new URL('../../scripts/postgres/package.json', import.meta.url),
)('postgres')

/** Returns a function that opens pools of one empty database, which the end of the test closes. */
async function opener(t: Test) {
  const url = await testDatabase(t)
  return function openSql(max: number): Sql {
    const sql = postgres(url, { max, onnotice() {} })
    t.teardown(() => sql.end({ timeout: 1 }))
    return sql
  }
}

for (const [kind, create] of Object.entries({
  'with a lease': postgresKeys,
  'in a transaction': transactionalPostgresKeys,
}))
  for (const [name, run] of Object.entries(keyStoreConformance))
    t.test(`keys in PostgreSQL by the package postgres, ${kind}: ${name}`, async (t) => {
      const openSql = await opener(t)
      const isTransactional = create === transactionalPostgresKeys
      const wait = (milliseconds: number) => sleep(milliseconds)
      await run(async (limits) => create(postgresJsPool(openSql(25)), limits), { isTransactional, wait })
    })

const key = { id: 'A'.repeat(43), fingerprint: 'F'.repeat(43) }

t.test(
  'with the package postgres, a failed transaction is rolled back before its connection is used again',
  async (t) => {
    const sql = (await opener(t))(1)
    await sql.unsafe('CREATE TABLE things (id int PRIMARY KEY)')
    const store = transactionalPostgresKeys(postgresJsPool(sql))
    const claim = async () => {
      const outcome = await store.claim(key)
      if (outcome.state !== 'claimed') throw new Error(`the key is ${outcome.state}`)
      return outcome.claim
    }
    const failed = await claim()
    await failed.transaction?.sql.unsafe('INSERT INTO things VALUES (1)')
    await t.rejects(Promise.resolve(failed.transaction?.sql.unsafe('INSERT INTO things VALUES (1)')), { code: '23505' })
    await t.rejects(failed.complete({ status: 201, response: new Uint8Array(1) }), { code: '25P02' })
    const next = await claim()
    await next.transaction?.sql.unsafe('INSERT INTO things VALUES (2)')
    await next.complete({ status: 201, response: new Uint8Array(1) })
    t.same([...((await sql.unsafe('SELECT id FROM things')) as { id: number }[])], [{ id: 2 }])
  },
)
