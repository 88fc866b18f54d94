import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { Database, sqliteSkipReason } from '../../../../test/support/better-sqlite.ts'
import { exactly } from '../../../../test/support/exact-pattern.ts'
import { tokenFileText, writeTokenFile } from '../../../../test/support/token-files.ts'
import type { TokenEntry } from '../../src/auth/token-file.ts'
import { readTokens, updateTokenFile } from '../../src/cli/token-file-update.ts'

const entry = { name: 'a', sha256: 'a'.repeat(64), created: '2026-01-31T12:00:00Z' }
const added = (entries: TokenEntry[]) => ({ entries: [...entries, entry], result: 'r' })

t.test('a new token file and its lock are readable by their owner only', async (t) => {
  const path = join(t.testdir({}), 'tokens.json')
  t.equal((await updateTokenFile(path, added)).result, 'r')
  t.strictSame(await readTokens(path), [entry])
  t.same(readdirSync(dirname(path)), ['tokens.json', 'tokens.json-lock'])
  for (const name of [path, `${path}-lock`]) t.equal(statSync(name).mode & 0o777, 0o600)
})

t.test('an existing token file keeps its owner and mode', async (t) => {
  const path = writeTokenFile(t, ['b', 'token'])
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(path, 12_345, 12_346)
  chmodSync(path, 0o640)
  const before = statSync(path)
  await updateTokenFile(path, added)
  const { uid, gid, mode, ino } = statSync(path)
  t.same([uid, gid, mode & 0o777], [before.uid, before.gid, 0o640])
  t.not(ino, before.ino, 'the file was replaced, not rewritten')
  t.equal((await readTokens(path)).length, 2)
})

t.test('a link stays a link', async (t) => {
  const path = writeTokenFile(t)
  const link = join(dirname(path), 'links', 'link.json')
  mkdirSync(dirname(link))
  symlinkSync(path, link)
  await updateTokenFile(link, added)
  t.ok(lstatSync(link).isSymbolicLink())
  t.strictSame(await readTokens(path), [entry])
  t.ok(existsSync(`${path}-lock`), 'the lock belongs to the target, so all links share it')
})

t.test('a dangling link stays a link', async (t) => {
  const directory = t.testdir({ data: {}, links: {} })
  const path = join(directory, 'data', 'tokens.json')
  const link = join(directory, 'links', 'tokens.json')
  symlinkSync('../data/tokens.json', link)
  await updateTokenFile(link, added)
  t.ok(lstatSync(link).isSymbolicLink())
  t.strictSame(await readTokens(path), [entry])
  t.same(
    [readdirSync(dirname(link)), readdirSync(dirname(path))],
    [['tokens.json'], ['tokens.json', 'tokens.json-lock']],
  )
})

t.test('the remains of a killed command are no obstacle', async (t) => {
  const path = writeTokenFile(t)
  writeFileSync(`${path}.unfinished`, 'half', { mode: 0o644 })
  writeFileSync(`${path}-lock`, '')
  await updateTokenFile(path, added)
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.notOk(existsSync(`${path}.unfinished`))
})

t.test('a link at the path of the lock is not followed', async (t) => {
  const path = writeTokenFile(t)
  const target = join(dirname(path), 'target')
  symlinkSync(target, `${path}-lock`)
  const message = exactly(`${path}-lock is a symbolic link; remove it`)
  await t.rejects(updateTokenFile(path, added), { message })
  t.notOk(existsSync(target), 'the target was not created')
  writeFileSync(target, '')
  await t.rejects(updateTokenFile(path, added), { message })
  t.strictSame(await readTokens(path), [])
})

t.test('a failed update changes nothing', async (t) => {
  const path = writeTokenFile(t, ['b', 'token'])
  const text = readFileSync(path, 'utf8')
  const change = () => {
    throw new Error('no')
  }
  await t.rejects(updateTokenFile(path, change), { message: exactly('no') })
  const wrong = { ...entry, name: '' }
  await t.rejects(
    updateTokenFile(path, () => ({ entries: [wrong] })),
    /^tokens\[0\]\.name is invalid, allowed: [^\n]+$/,
  )
  t.equal(readFileSync(path, 'utf8'), text)

  chmodSync(path, 0o666)
  await t.rejects(updateTokenFile(path, added), /^writable by users other than its owner \(mode 666\); run chmod go-w/)
  chmodSync(path, 0o600)
  writeFileSync(path, '{')
  await t.rejects(updateTokenFile(path, added), /^not valid JSON: unexpected end at character 1$/)
  await t.rejects(updateTokenFile(join(path, 'none', 'tokens.json'), added), { code: 'ENOTDIR' })
  await t.rejects(updateTokenFile(join(dirname(path), 'none', 'tokens.json'), added), { code: 'ENOENT' })
})

t.test('a command gives up waiting for the lock', { skip: sqliteSkipReason }, async (t) => {
  const path = writeTokenFile(t)
  const other = new Database(`${path}-lock`)
  other.exec('BEGIN EXCLUSIVE')
  t.teardown(() => other.close())
  await t.rejects(updateTokenFile(path, added), { message: exactly('another command is changing it; try again') })
  t.equal(readFileSync(path, 'utf8'), tokenFileText())
  other.exec('COMMIT')
  await updateTokenFile(path, added)
  t.strictSame(await readTokens(path), [entry])
})
