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
import { exactly } from '../../../../test/support/exact-pattern.ts'
import { tokenFileText, writeTokenFile } from '../../../../test/support/token-files.ts'
import type { TokenEntry } from '../../src/auth/token-file.ts'
import { readTokens, updateTokenFile } from '../../src/cli/token-file-update.ts'

const entry = { name: 'a', sha256: 'a'.repeat(64), created: '2026-01-31T12:00:00Z' }
const added = (entries: TokenEntry[]) => ({ entries: [...entries, entry], result: 'r' })
const update = (path: string, change: (entries: TokenEntry[]) => { entries: TokenEntry[] }) =>
  updateTokenFile(path, change, async () => () => {})

t.test('a new token file and its lock are readable by their owner only', async (t) => {
  const path = join(t.testdir({}), 'tokens.json')
  t.equal((await updateTokenFile(path, added, async () => () => {})).result, 'r')
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
  await update(path, added)
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
  await update(link, added)
  t.ok(lstatSync(link).isSymbolicLink())
  t.strictSame(await readTokens(path), [entry])
  t.ok(existsSync(`${path}-lock`), 'the lock belongs to the target, so all links share it')
})

t.test('a dangling link stays a link', async (t) => {
  const directory = t.testdir({ data: {}, links: {} })
  const path = join(directory, 'data', 'tokens.json')
  const link = join(directory, 'links', 'tokens.json')
  symlinkSync('../data/tokens.json', link)
  await update(link, added)
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
  await update(path, added)
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.notOk(existsSync(`${path}.unfinished`))
})

t.test('a link at the path of the lock is not followed', async (t) => {
  const path = writeTokenFile(t)
  const target = join(dirname(path), 'target')
  symlinkSync(target, `${path}-lock`)
  const message = exactly(`${path}-lock is a symbolic link; remove it`)
  await t.rejects(update(path, added), { message })
  t.notOk(existsSync(target), 'the target was not created')
  writeFileSync(target, '')
  await t.rejects(update(path, added), { message })
  t.strictSame(await readTokens(path), [])
})

t.test('a failed update changes nothing', async (t) => {
  const path = writeTokenFile(t, ['b', 'token'])
  const text = readFileSync(path, 'utf8')
  const change = () => {
    throw new Error('no')
  }
  await t.rejects(update(path, change), { message: exactly('no') })
  const wrong = { ...entry, name: '' }
  await t.rejects(
    update(path, () => ({ entries: [wrong] })),
    /^tokens\[0\]\.name is invalid; expected [^\n]+$/,
  )
  t.equal(readFileSync(path, 'utf8'), text)

  chmodSync(path, 0o666)
  await t.rejects(update(path, added), /^writable by users other than its owner \(mode 666\); run chmod go-w/)
  chmodSync(path, 0o600)
  writeFileSync(path, '{')
  await t.rejects(update(path, added), /^not valid JSON: unexpected end at character 1$/)
  await t.rejects(update(join(path, 'none', 'tokens.json'), added), { code: 'ENOTDIR' })
  await t.rejects(update(join(dirname(path), 'none', 'tokens.json'), added), { code: 'ENOENT' })
})

t.test('a command gives up waiting for the lock', async (t) => {
  const path = writeTokenFile(t)
  const asked: string[] = []
  const lockFile = async (lock: string) => {
    asked.push(lock)
    return undefined
  }
  const message = exactly('another command is changing it; try again')
  await t.rejects(updateTokenFile(path, added, lockFile), { message })
  t.equal(readFileSync(path, 'utf8'), tokenFileText())
  t.same(asked, [`${path}-lock`])
})
