import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openStore } from '../../src/store/open.ts'
import { plantBatch } from '../../src/store/sqlite/sqlite-batch.ts'
import { openDatabase } from '../../src/store/sqlite/sqlite-database.ts'
import { openSqlite } from '../../src/store/sqlite/sqlite-store.ts'
import { requireSqlite } from '../support/sqlite.ts'

requireSqlite(t)

const largest = 2n ** 63n - 1n
const smallest = -(2n ** 63n)

/** Opens a new file, and returns its functions, of which `commit` takes plants. */
function openNew(t: Test) {
  const { commit, query, close } = openDatabase(join(t.testdir({}), 'plants.db'))
  t.teardown(close)
  return { query, commit: (...plants: Parameters<typeof plantBatch>[0]) => commit(plantBatch(plants)) }
}

t.test('the first plant with an id is created, and the others are compared to it', async (t) => {
  const { commit, query } = openNew(t)
  t.same(commit({ id: 1n, name: 'a' }, { id: 2n, name: 'b', tag: '' }), ['created', 'created'])
  const outcomes = commit(
    { id: 3n, name: 'c' },
    { id: 1n, name: 'a' },
    { id: 2n, name: 'b' },
    { id: 3n, name: 'd' },
    { id: largest, name: 'e' },
    { id: 3n, name: 'c' },
    { id: smallest, name: 'e' },
    { id: 2n, name: 'b', tag: '' },
  )
  const all = ['created', 'identical', 'conflict', 'conflict', 'created', 'identical', 'created', 'identical']
  t.same(outcomes, all)
  t.same(commit({ id: largest, name: 'e' }, { id: smallest, name: 'f' }), ['identical', 'conflict'])
  t.same(query('list', [smallest, 10]), [
    { id: smallest, name: 'e' },
    { id: 1n, name: 'a' },
    { id: 2n, name: 'b', tag: '' },
    { id: 3n, name: 'c' },
    { id: largest, name: 'e' },
  ])
  t.same(commit(), [])
})

t.test('text with a NUL is kept and compared as a whole', async (t) => {
  const { commit, query } = openNew(t)
  const plant = { id: 1n, name: '\0a\0b', tag: 'c\0' }
  t.same(commit(plant), ['created'])
  t.same(commit(plant, { ...plant, name: '\0a\0' }, { ...plant, tag: 'c' }), ['identical', 'conflict', 'conflict'])
  t.same(query('list', [1n, 1]), [plant])
})

t.test('a batch with an id beyond 64 bits is rejected as a whole', async (t) => {
  const { commit, query } = openNew(t)
  for (const id of [largest + 1n, smallest - 1n, 2n ** 64n, 10n ** 400n])
    t.throws(() => commit({ id: 1n, name: 'a' }, { id, name: 'b' }), /datatype mismatch/)
  t.same(query('list', [smallest, 10]), [])
})

t.test('a file that better-sqlite3 wrote opens with the plants of its write-ahead log', async (t) => {
  const directory = t.testdir({})
  cpSync(join('test', 'store', 'better-sqlite3'), directory, { recursive: true })
  const plants = [
    { id: smallest, name: 'Monstera deliciosa' },
    { id: 1n, name: '', tag: '' },
    { id: largest, name: 'Ficus \u{1f33f} "a\\b"', tag: '\u00e9' },
  ]
  const path = join(directory, 'plants.db')
  const store = await openSqlite(path)
  t.same(await store.list(smallest, 10), plants)
  await store.close()
  const again = await openStore(`sqlite:${path}`)
  for (const plant of plants) t.equal(await again.create(plant), 'identical')
  await again.close()
})
