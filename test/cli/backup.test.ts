import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import t, { type Test } from 'tap'
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

/** Starts a process that holds the lock of a backup and has written half of the copy. */
async function startHalfBackup(t: Test, target: string) {
  const script = join(dirname(target), 'half.mjs')
  writeFileSync(
    script,
    `import { writeFileSync } from 'node:fs'
    import { lockFile } from ${JSON.stringify(resolve('src/store/sqlite/sqlite-driver.ts'))}
    // Garbage collection of the release function would end the lock.
    globalThis.release = lockFile(${JSON.stringify(`${target}.unfinished-lock`)}, 0)
    writeFileSync(${JSON.stringify(`${target}.unfinished`)}, 'half')
    console.log('written')
    setInterval(() => {}, 1_000)`,
  )
  const half = run(t, script)
  await half.find('stdout', /^written$/m)
  return half
}

t.test("the remains of a killed backup are removed, a concurrent backup's file is not", async (t) => {
  const directory = t.testdir({ backups: { 'notes.unfinished': '', 'other.unfinished-lock': 'x'.repeat(4_096) } })
  const backups = join(directory, 'backups')
  const STORE_URL = `sqlite:${join(directory, 'plants.db')}`
  makeStore(join(directory, 'plants.db'), 1n)
  const monday = join(backups, 'monday.db')
  const other = await startHalfBackup(t, monday)
  t.throws(() => backup(monday, { STORE_URL }), /^another backup is writing [^\n]+monday\.db; name another file$/)
  t.equal(backup(join(backups, 'tuesday.db'), { STORE_URL }), `1 plants are in ${backups}/tuesday.db\n`)
  t.ok(existsSync(`${monday}.unfinished`), 'the file of the running backup is kept')

  await other.stop('SIGKILL')
  backup(join(backups, 'wednesday.db'), { STORE_URL })
  const left = ['half.mjs', 'notes.unfinished', 'other.unfinished-lock', 'tuesday.db', 'wednesday.db']
  t.same(readdirSync(backups), left)
  t.same(idsIn(join(backups, 'wednesday.db')), [1])
})

t.test('a link at the path of a lock is not followed', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  makeStore(path, 1n)
  const copy = join(directory, 'copy.db')
  symlinkSync(join(directory, 'target'), `${copy}.unfinished-lock`)
  t.throws(() => backup(copy, { STORE_URL: `sqlite:${path}` }), {
    message: exactly(`${copy}.unfinished-lock is a symbolic link; remove it`),
  })
  t.notOk(existsSync(join(directory, 'target')))
})

t.test("a backup without SQLite fails and keeps a concurrent backup's file", async (t) => {
  const directory = t.testdir({ 'other.unfinished-lock': '', 'other.unfinished': 'half' })
  const path = join(directory, 'plants.db')
  makeStore(path, 1n)
  const before = readdirSync(directory)
  hideSqlite(t)
  t.throws(() => backup(join(directory, 'copy.db'), { STORE_URL: `sqlite:${path}` }), {
    message: /^SQLite is missing, because the optional package better-sqlite3 is not installed; [^\n]+$/,
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
