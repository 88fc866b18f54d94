import t from 'tap'
import { postgresQueries } from '../../src/store/postgres/postgres-store.ts'

t.test('a page whose plants were all deleted is not mistaken for the end', async (t) => {
  const answers = [[{ id: '1', size: '3' }], [], [{ id: '2', size: 3 }], [{ id: '2', name: 'abc', tag: null }], []]
  const { list } = postgresQueries(async () => answers.shift() as never)
  t.same(await list(0n, 1), [{ id: 2n, name: 'abc' }])
  t.same(await list(3n, 1), [])
})
