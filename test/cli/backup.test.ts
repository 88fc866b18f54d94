import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { backup } from '../../src/cli/sqlite-commands.ts'
import { openStore } from '../../src/store/open.ts'
import { Database, hideSqlite, requireSqlite } from '../support/better-sqlite.ts'
import { run } from '../support/child-process.ts'
import { exactly } from '../support/exact-pattern.ts'
import { idsIn, makeStore } from './sqlite-files.ts'

requireSqlite(t)

t.test('a backup of a store in use is a consistent snapshot', async (t) => {
  const directory = t.testdir({})
  const STORE_URL = `sqlite:${join(directory, 'plants.db')}`
  const target = join(directory, 'copy.db')
  const store = await openStore(STORE_URL)
  await store.create({ id: 0n, name: 'a' })
  chmodSync(join(directory, 'plants.db'), 0o600)
  let created = 1
  let ended = false
  const load = (async () => {
    while (!ended) await store.create({ id: BigInt(created++), name: 'a' })
  })()
  const { code, stdout } = await run(t, 'src/cli/main.ts', { STORE_URL }, ['backup', target]).ended
  ended = true
  await load
  await store.close()

  t.equal(code, 0)
  t.equal(statSync(target).mode & 0o777, 0o600, 'the backup has the mode of the store')
  const ids = idsIn(target)
  t.equal(stdout, `${ids.length} plants are in ${target}\n`)
  t.ok(ids.length > 0 && ids.length <= created)
  t.same(ids, [...ids.keys()], 'the snapshot has every plant created before its last one')
  t.same(readdirSync(directory).sort(), ['copy.db', 'plants.db', 'plants.db-lock'])
  const restored = await openStore(`sqlite:${target}`)
  t.equal(await restored.create({ id: 0n, name: 'a' }), 'identical')
  await restored.close()
})

t.test('a failed backup leaves nothing behind', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  const target = join(directory, 'backups', 'copy.db')
  makeStore(path, 1n)
  const refusals: [string, string, string][] = [
    [path, path, `${path} exists already; name a new file`],
    [path, target, `${dirname(target)} does not exist; create that directory`],
    [join(directory, 'none.db'), join(directory, 'copy.db'), `${directory}/none.db: it does not exist`],
  ]
  for (const [from, to, message] of refusals) {
    t.throws(() => backup(to, { STORE_URL: `sqlite:${from}` }), { message: exactly(message) })
  }
  t.throws(
    () => backup(target, { STORE_URL: 'memory:' }),
    /^STORE_URL is not sqlite:PATH; use the tools of that database$/,
  )
  t.same(readdirSync(directory), ['plants.db', 'plants.db-lock'], 'no write-ahead log is left')

  const empty = join(directory, 'empty.db')
  writeFileSync(empty, '')
  t.throws(() => backup(join(directory, 'copy.db'), { STORE_URL: `sqlite:${empty}` }), {
    message: exactly(`${empty}: it has no table of plants`),
  })
  t.same(readdirSync(directory), ['empty.db', 'plants.db', 'plants.db-lock'])
})

t.test('a backup does not touch the unfinished copy of another backup', async (t) => {
  const directory = t.testdir({ 'copy.db.unfinished': 'half' })
  const path = join(directory, 'plants.db')
  const copy = join(directory, 'copy.db')
  makeStore(path, 1n)
  t.throws(() => backup(copy, { STORE_URL: `sqlite:${path}` }), {
    message: exactly(`${copy}.unfinished exists: a backup is writing it, or was killed; remove it then`),
  })
  t.equal(readFileSync(`${copy}.unfinished`, 'utf8'), 'half')
})

t.test('a backup without SQLite fails and leaves nothing behind', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  makeStore(path, 1n)
  const before = readdirSync(directory)
  hideSqlite(t)
  t.throws(() => backup(join(directory, 'copy.db'), { STORE_URL: `sqlite:${path}` }), {
    message: /SQLite is missing, because the optional package better-sqlite3 is not installed; [^\n]+$/,
  })
  t.same(readdirSync(directory), before)
})

t.test("a backup without a running service leaves no journal and does not change the store's file", async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  makeStore(path, 1n)
  const { mtimeMs } = statSync(path)
  mkdirSync(join(directory, 'backups'))
  backup(join(directory, 'backups', 'copy.db'), { STORE_URL: `sqlite:${path}` })
  t.same(readdirSync(directory), ['backups', 'plants.db', 'plants.db-lock'])
  t.equal(statSync(path).mtimeMs, mtimeMs)
  const copy = new Database(join(directory, 'backups', 'copy.db'), { readonly: true })
  t.equal(copy.pragma('journal_mode', { simple: true }), 'delete')
  copy.close()
})
