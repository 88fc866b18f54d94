import t from 'tap'
import { query } from '../../scripts/postgres/temporary-postgres.ts'
import { testDatabase } from '../../scripts/postgres/test-database.ts'
import { conformance } from '../../src/store/conformance.ts'
import { openStore } from '../../src/store/open.ts'

const table = `
  CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text) PARTITION BY HASH (id);
  CREATE TABLE plants_0 PARTITION OF plants FOR VALUES WITH (MODULUS 2, REMAINDER 0);
  CREATE TABLE plants_1 PARTITION OF plants FOR VALUES WITH (MODULUS 2, REMAINDER 1)`

for (const [name, run] of Object.entries(conformance)) {
  t.test(`on a hash-partitioned table: ${name}`, async (t) => {
    const url = await testDatabase(t)
    await query(url, table)
    await t.resolves(run(() => openStore(url), true))
  })
}

t.test('the plants of a batch reach all partitions', async (t) => {
  const url = await testDatabase(t)
  await query(url, table)
  const store = await openStore(url)
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, id) => store.create({ id: BigInt(id), name: 'a' })),
  )
  await store.close()
  t.same(new Set(outcomes), new Set(['created']))
  const counts = await query(url, 'SELECT count(*)::int AS count FROM plants GROUP BY tableoid')
  t.equal(counts.length, 2)
  for (const { count } of counts) t.ok(Number(count) > 50, `${count} of 200`)
})
