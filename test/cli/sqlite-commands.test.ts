import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { run } from 'fastify-contract-test-support/child-process'
import { exactly, usageError } from 'fastify-contract-test-support/exact-pattern'
import t, { type Test } from 'tap'
import { backup, restore, sqliteCommand, sqliteHelp } from '../../src/cli/sqlite-commands.ts'
import { openForReading, openStore } from '../../src/store/open.ts'
import { runTool } from '../support/service-code.ts'
import { startService } from '../support/service-process.ts'
import { hideSqlite, openFile, pragma, requireSqlite } from '../support/sqlite.ts'
import { runPlants } from './run-plants.ts'
import { damage, idsIn, makeKilledStore, makeStore, servedIds } from './sqlite-files.ts'

requireSqlite(t)

const plantStore = (t: Test, STORE_URL: string, ...args: string[]) => runTool(t, args, { STORE_URL }).untilEnded()

t.test('check reports a sound file, in use or not, and leaves nothing behind', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  const STORE_URL = `sqlite:${path}`
  const store = await openStore(STORE_URL)
  await store.create({ id: 1n, name: 'a' })
  const checked = { result: `${path}: ok, 1 plants\n`, code: 0 }
  t.same(sqliteCommand('check', [], { STORE_URL }), checked)
  await store.close()
  t.same(sqliteCommand('check', [path], { STORE_URL: 'memory:' }), checked)
  t.same(readdirSync(directory), ['plants.db', 'plants.db-lock'])
})

t.test('check prints the damage and exits with 1', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  makeStore(path, ...Array.from({ length: 2_000 }, (_, id) => BigInt(id)))
  const bytes = damage(path)
  const { code, stdout, stderr } = await plantStore(t, `sqlite:${path}`, 'check')
  t.same([code, stderr], [1, ''])
  const lines = stdout.trimEnd().split('\n')
  t.ok(lines.length > 1)
  for (const line of lines) t.ok(line.startsWith(`${path}: Tree `), line)
  t.ok(readFileSync(path).equals(bytes), 'the check does not change the file')

  writeFileSync(path, bytes.fill(0xff, 100, 4_096))
  const worse = await plantStore(t, `sqlite:${path}`, 'check')
  t.same([worse.code, worse.stdout], [1, ''])
  t.match(worse.stderr, /^plant-store: [^\n]+plants\.db: database disk image is malformed\n$/)
})

t.test('backup copies the file of STORE_URL, and restore brings its plants back', async (t) => {
  const directory = t.testdir({})
  const [path, copy] = [join(directory, 'plants.db'), join(directory, 'copy.db')]
  const STORE_URL = `sqlite:${path}`
  makeStore(path, 1n)
  t.same(sqliteCommand('backup', [copy], { STORE_URL }), { result: `1 plants are in ${copy}\n`, code: 0 })
  makeStore(path, 2n)
  t.match(sqliteCommand('restore', [copy], { STORE_URL }), { result: /^1 plants of /, code: 0 })
  t.same(servedIds(path), [1])
})

t.test('missing or surplus arguments are rejected, and help is printed', async (t) => {
  const missing = (name: string, expected: string) => usageError(`missing ${name}; expected ${expected}`)
  t.throws(() => sqliteCommand('backup', [], {}), missing('TARGET', 'the path of a new file'))
  t.throws(() => sqliteCommand('restore', [], {}), missing('SOURCE', 'the path of a backup'))
  t.throws(() => sqliteCommand('check', ['a', 'b'], {}), usageError("unexpected argument 'b'; expected FILE, --help"))
  t.throws(
    () => sqliteCommand('backup', ['--', '--help'], {}),
    usageError('TARGET must not begin with a dash; expected TARGET, --help'),
    'no file of that name is written',
  )
  t.throws(
    () => sqliteCommand('backup', ['--force'], {}),
    /^unexpected option '--force'[^\n]*; expected TARGET, --help$/,
  )
  for (const command of ['backup', 'restore', 'check'] as const)
    t.same(sqliteCommand(command, ['--help'], {}), { result: sqliteHelp, code: 0 })
})

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
  const { code, stdout } = await runTool(t, ['backup', target], { STORE_URL }).ended
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

t.test('a relative path that looks like a URI names a file', async (t) => {
  const directory = t.testdir({})
  makeStore(join(directory, 'plants.db'), 1n)
  const before = process.cwd()
  process.chdir(directory)
  t.teardown(() => process.chdir(before))
  const STORE_URL = 'sqlite:plants.db'
  t.equal(backup('file:copy.db?mode=memory', { STORE_URL }), '1 plants are in file:copy.db?mode=memory\n')
  t.same(sqliteCommand('check', ['file:copy.db?mode=memory'], {}).code, 0)
  t.match(restore('file:copy.db?mode=memory', { STORE_URL }), /^1 plants of file:copy/)
  t.same(readdirSync(directory).sort(), [
    'file:copy.db?mode=memory',
    'plants.db',
    'plants.db-lock',
    'plants.db-replaced',
  ])
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
  for (const [from, to, message] of refusals)
    t.throws(() => backup(to, { STORE_URL: `sqlite:${from}` }), { message: exactly(message) })
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
    message: exactly(`${copy}.unfinished exists; if no backup is running, remove it`),
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
    message: /SQLite is missing, because the package @photostructure\/sqlite is not installed; [^\n]+$/,
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
  const copy = openFile(join(directory, 'backups', 'copy.db'))
  t.equal(pragma(copy, 'journal_mode'), 'delete')
  copy.close()
})

const command = (t: Test, source: string, STORE_URL: string) =>
  runTool(t, ['restore', source], { STORE_URL }).untilEnded()

t.test('a service serves the plants of the backup, and no later ones', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'data', 'plants.db')
  const STORE_URL = `sqlite:${path}`
  const copy = join(directory, 'copy.db')
  const first = await startService(t, { STORE_URL })
  t.equal((await first.create('{"id":1,"name":"a"}')).status, 200)
  backup(copy, { STORE_URL })
  t.equal((await first.create('{"id":2,"name":"later"}')).status, 200)

  const refused = await command(t, copy, STORE_URL)
  t.same([refused.code, refused.stdout], [1, ''])
  t.equal(refused.stderr, `plant-store: ${path}: it is in use by another process; stop the service first\n`)
  t.equal((await first.create('{"id":2,"name":"later"}')).status, 200)
  await first.stop('SIGKILL')
  t.ok(existsSync(`${path}-wal`), 'a write-ahead log is left')

  const restored = await command(t, copy, STORE_URL)
  t.same([restored.code, restored.stderr], [0, ''])
  const kept = `the old file is now ${path}-replaced`
  t.equal(restored.stdout, `1 plants of ${copy} are in ${path}; ${kept}\n`)
  const again = await startService(t, { STORE_URL })
  t.equal((await again.create('{"id":1,"name":"b"}')).status, 409)
  t.equal((await again.create('{"id":2,"name":"another"}')).status, 200)
  await again.stop()
  t.same(idsIn(`${path}-replaced`), [1, 2], 'the replaced file has its write-ahead log')
})

t.test('a killed restore leaves the old file or one that the next start completes', async (t) => {
  const renames = ['-restored', '-replaced', '-replaced-wal', 'plants.db']
  for (const [done, next] of renames.entries()) {
    const directory = t.testdir({})
    const path = join(directory, 'data', 'plants.db')
    const copy = join(directory, 'copy.db')
    makeStore(copy, 1n)
    makeKilledStore(path, 1n, 2n)
    const script = join(directory, 'killed.mjs')
    writeFileSync(
      script,
      `import fs from 'node:fs'
      import { syncBuiltinESMExports } from 'node:module'
      const { renameSync } = fs
      let done = 0
      fs.renameSync = (from, to) => {
        if (done++ === ${done}) {
          console.log(to)
          process.kill(process.pid, 'SIGKILL')
        }
        renameSync(from, to)
      }
      syncBuiltinESMExports()
      const { restore } = await import(${JSON.stringify(resolve('src/cli/sqlite-commands.ts'))})
      restore(${JSON.stringify(copy)}, { STORE_URL: ${JSON.stringify(`sqlite:${path}`)} })`,
    )
    const { signal, stdout } = await run(t, script).untilEnded()
    t.equal(signal, 'SIGKILL')
    t.ok(stdout.endsWith(`${next}\n`), next)
    if (next === '-restored') {
      t.same(servedIds(path), [1, 2], 'the old file')
      t.match(restore(copy, { STORE_URL: `sqlite:${path}` }), /^1 plants of /)
      t.same(readdirSync(join(directory, 'data')), ['plants.db', 'plants.db-lock', 'plants.db-replaced'])
    } else {
      const pending = {
        message: new RegExp(`a restore was interrupted, and ${path}-restored will replace the file; start the service`),
      }
      t.throws(() => sqliteCommand('check', [], { STORE_URL: `sqlite:${path}` }), pending)
      await t.rejects(openForReading(`sqlite:${path}`), pending)
    }
    t.same(servedIds(path), [1], 'the backup')
    t.same(idsIn(`${path}-replaced`), [1, 2], 'the old file and its write-ahead log')
  }
})

t.test('a reader names a killed restore also by a symbolic link, and leaves no journal', async (t) => {
  const directory = t.testdir({ links: {} })
  const path = join(directory, 'there', 'plants.db')
  const link = join(directory, 'links', 'plants.db')
  const STORE_URL = `sqlite:${link}`
  makeStore(path, 1n, 2n)
  symlinkSync('../there/plants.db', link)
  t.same(sqliteCommand('check', [], { STORE_URL }), { result: `${link}: ok, 2 plants\n`, code: 0 })
  t.same(readdirSync(dirname(path)), ['plants.db', 'plants.db-lock'])

  makeStore(`${path}-restored`, 1n)
  const pending = { message: /: a restore was interrupted, and .+\/there\/plants\.db-restored will replace the file; / }
  for (const isMoved of [false, true]) {
    if (isMoved) renameSync(path, `${path}-replaced`)
    t.throws(() => sqliteCommand('check', [], { STORE_URL }), pending)
    t.throws(() => backup(join(directory, 'copy.db'), { STORE_URL }), pending)
    await t.rejects(runPlants(STORE_URL, ['export']), pending)
  }
  t.same(servedIds(link), [1])
})

t.test('the next start completes a killed restore over any file, also without a lock file', (t) => {
  for (const content of ['', 'x'.repeat(8_192)]) {
    const path = join(t.testdir({ 'plants.db': content }), 'plants.db')
    makeStore(`${path}-restored`, 1n)
    t.same(servedIds(path), [1])
    t.equal(readFileSync(`${path}-replaced`, 'utf8'), content)
  }
  t.end()
})

t.test('a damaged file is replaced, and the next restore completes a killed one', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  const STORE_URL = `sqlite:${path}`
  const copy = join(directory, 'copy.db')
  makeStore(copy, 1n)
  writeFileSync(path, 'x'.repeat(8_192))
  for (const suffix of ['-wal', '-journal', '-shm']) writeFileSync(path + suffix, 'stale')
  restore(copy, { STORE_URL })
  t.same(servedIds(path), [1])
  for (const suffix of ['-wal', '-journal']) t.equal(readFileSync(`${path}-replaced${suffix}`, 'utf8'), 'stale')

  makeStore(`${path}-restored`, 3n)
  const exists = `${path}-replaced exists from an earlier restore; move or remove it and its -wal file first`
  t.throws(() => restore(copy, { STORE_URL }), { message: exactly(exists) })
  t.same(servedIds(path), [3])
})

t.test('an invalid backup is rejected and changes nothing', async (t) => {
  const directory = t.testdir({ empty: '', 'text.db': 'x'.repeat(4_096) })
  const path = join(directory, 'data', 'plants.db')
  const STORE_URL = `sqlite:${path}`
  makeStore(path, 1n)
  const make = (name: string, sql: string) => {
    const database = openFile(join(directory, name))
    database.exec(sql)
    database.close()
  }
  make('foreign.db', 'CREATE TABLE accounts (id)')
  make('newer.db', 'CREATE TABLE plants (id); PRAGMA application_id = 0x706c6e74; PRAGMA user_version = 3')
  makeStore(join(directory, 'damaged.db'), ...Array.from({ length: 2_000 }, (_, id) => BigInt(id)))
  damage(join(directory, 'damaged.db'))
  const refusals: [string, RegExp][] = [
    ['none.db', /none\.db: it does not exist$/],
    ['empty', /empty: it has no table of plants$/],
    ['text.db', /text\.db: it is not a SQLite database; check the path, or restore a backup$/],
    ['foreign.db', /foreign\.db: it is not a plant-store database; check the path$/],
    ['newer.db', /newer\.db: it has schema version 3, and this release supports up to 2; upgrade the service$/],
    ['damaged.db', /damaged\.db is damaged: Tree [^\n]+$/],
    ['data/plants.db', /plants\.db is the file of STORE_URL itself; name a backup$/],
  ]
  for (const [name, message] of refusals) t.throws(() => restore(join(directory, name), { STORE_URL }), { message })
  t.same(readdirSync(dirname(path)), ['plants.db', 'plants.db-lock'])
  t.same(servedIds(path), [1])
  t.throws(() => restore(path, { STORE_URL: 'memory:' }), /^STORE_URL is not sqlite:PATH/)
})

t.test('a restore follows links, creates directories and accepts a backup with a journal', async (t) => {
  const directory = t.testdir({ links: {} })
  const copy = join(directory, 'copy.db')
  makeKilledStore(copy, 1n, 2n)
  const fresh = join(directory, 'a', 'b', 'plants.db')
  t.equal(restore(copy, { STORE_URL: `sqlite:${fresh}` }), `2 plants of ${copy} are in ${fresh}\n`)
  t.same(servedIds(fresh), [1, 2])
  const link = join(directory, 'links', 'plants.db')
  mkdirSync(join(directory, 'there'))
  symlinkSync('../there/plants.db', link)
  restore(copy, { STORE_URL: `sqlite:${link}` })
  t.same(servedIds(join(directory, 'there', 'plants.db')), [1, 2])
  t.same(readdirSync(join(directory, 'links')), ['plants.db'])
})

t.test("a restore by root keeps the file's owner and mode", async (t) => {
  const directory = t.testdir({ old: {}, new: {} })
  const copy = join(directory, 'copy.db')
  makeStore(copy, 1n)
  const user = process.getuid?.() === 0 ? 12_345 : (process.getuid?.() as number)
  const group = statSync(directory).gid
  const [old, fresh] = [join(directory, 'old', 'plants.db'), join(directory, 'new', 'plants.db')]
  makeStore(old, 2n)
  chmodSync(old, 0o640)
  for (const path of [old, `${old}-lock`, dirname(fresh)]) chownSync(path, user, group)
  // Without root, a user may only chown a file to itself.
  t.intercept(process, 'getuid', { value: () => 0 })
  for (const path of [old, fresh]) {
    restore(copy, { STORE_URL: `sqlite:${path}` })
    for (const suffix of ['', '-lock']) t.equal(statSync(path + suffix).uid, user)
  }
  t.equal(statSync(old).mode & 0o777, 0o640)
  t.intercept(process, 'getuid', { value: () => 1 })
  const other = join(directory, 'other.db')
  restore(copy, { STORE_URL: `sqlite:${other}` })
  const store = await openStore(`sqlite:${other}`)
  t.equal(await store.create({ id: 1n, name: 'a' }), 'identical')
  await store.close()
})
