import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { sqliteCommand, sqliteHelp } from '../../src/cli/sqlite-commands.ts'
import { openStore } from '../../src/store/open.ts'
import { requireSqlite } from '../support/better-sqlite.ts'
import { run } from '../support/child-process.ts'
import { usageError } from '../support/exact-pattern.ts'
import { damage, makeStore, servedIds } from './sqlite-files.ts'

requireSqlite(t)

const plantStore = (t: Test, STORE_URL: string, ...args: string[]) =>
  run(t, 'src/cli/main.ts', { STORE_URL }, args).untilEnded()

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
  for (const command of ['backup', 'restore', 'check'] as const) {
    t.same(sqliteCommand(command, ['--help'], {}), { result: sqliteHelp, code: 0 })
  }
})
