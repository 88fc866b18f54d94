import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../src/store/sqlite/sqlite-database.ts'
import { requireSqlite } from '../support/better-sqlite.ts'
import { run } from '../support/child-process.ts'
import { runPlants } from './run-plants.ts'
import { makeStore } from './sqlite-files.ts'

requireSqlite(t)

const ids = Array.from({ length: 2_500 }, (_, id) => BigInt(id))
const all = ids.map((id) => `{"id":${id},"name":"a"}\n`).join('')

t.test('all plants are written to a file or stdout, with its progress on a terminal', async (t) => {
  const directory = t.testdir({ 'plants.jsonl': 'of yesterday' })
  const path = join(directory, 'plants.db')
  const file = join(directory, 'plants.jsonl')
  makeStore(path, ...ids)
  const url = `sqlite:${path}`
  t.same(await runPlants(url, ['export']), { code: 0, stdout: all, stderr: '' })
  const { code, stdout, stderr } = await runPlants(url, ['export', file], { isTTY: true })
  t.same([code, stdout], [0, `2500 plants are in ${file}\n`])
  const looks = stderr.split('\r\x1b[K')
  t.match(looks[1], /^1,000 plants, [\d,]+\/s$/)
  t.equal(looks.at(-1), '')
  t.equal(readFileSync(file, 'utf8'), all)
  t.same(readdirSync(directory), ['plants.db', 'plants.db-lock', 'plants.jsonl'], 'no write-ahead log is left')
})

t.test('an interrupted export leaves the file unchanged', async (t) => {
  const directory = t.testdir({ 'plants.jsonl': 'of yesterday' })
  const path = join(directory, 'plants.db')
  makeStore(path, ...ids)
  const interrupted = { code: 130, stdout: '', stderr: 'plant-store: interrupted\n' }
  const args = ['export', join(directory, 'plants.jsonl')]
  t.same(await runPlants(`sqlite:${path}`, args, { interrupt: AbortSignal.abort() }), interrupted)
  t.equal(readFileSync(join(directory, 'plants.jsonl'), 'utf8'), 'of yesterday')
  t.same(readdirSync(directory), ['plants.db', 'plants.db-lock', 'plants.jsonl'])
})

t.test('a writer can reset the write-ahead log during an export', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  const { commit, checkpoint, close } = openDatabase(path)
  let next = 0n
  const write = () => {
    const name = 'x'.repeat(1_000)
    commit(Array.from({ length: 1_000 }, () => ({ id: next++, name })))
    checkpoint()
  }
  write()
  const [{ openForReading }, { pagesOf }] = await Promise.all([
    import('../../src/store/open.ts'),
    import('../../src/cli/plants-export.ts'),
  ])
  const reader = await openForReading(`sqlite:${path}`)
  let read = 0
  for await (const page of pagesOf(reader, new AbortController().signal)) {
    read += page.length
    if (next < 20_000n) write()
  }
  t.equal(read, 20_000)
  t.ok(statSync(`${path}-wal`).size < 5_000_000, `${statSync(`${path}-wal`).size} bytes of 20 MB`)
  await reader.close()
  close()
})

t.test('a reader that closes its pipe ends an export silently', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  makeStore(path, ...Array.from({ length: 50_000 }, (_, id) => BigInt(id)))
  const { child, untilEnded } = run(t, 'src/cli/main.ts', { STORE_URL: `sqlite:${path}` }, ['plants', 'export'])
  child.stdout.once('data', () => child.stdout.destroy())
  t.match(await untilEnded(), { code: 1, signal: null, stderr: '' })
})
