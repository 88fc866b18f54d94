import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import t from 'tap'
import { nodeCommand, spawnProcess } from '../../../../test/support/child-process.ts'
import { exactly, usageError } from '../../../../test/support/exact-pattern.ts'
import { tokenFileText, writeTokenFile } from '../../../../test/support/token-files.ts'
import type { TokenEntry } from '../../src/auth/token-file.ts'
import { parseDuration, parseExpiry } from '../../src/cli/token.ts'
import { lockWithFlock, readTokens, updateTokenFile } from '../../src/cli/token-file-update.ts'
import { createLockFile, openAtomicFile } from '../../src/service/atomic-file.ts'

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

const skip = spawnSync('flock', ['--help']).error === undefined ? false : 'NOT RUN: flock is not installed'

/** A timeout (ms) that no test reaches. */
const long = 60_000

t.test('a lock that flock holds blocks other commands until its release', { skip }, async (t) => {
  const path = join(t.testdir({}), 'lock')
  const release = await lockWithFlock(path, long)
  t.equal(await lockWithFlock(path, 50), undefined)
  const waiting = lockWithFlock(path, long)
  release?.()
  ;(await waiting)?.()
})

t.test('a lock that flock holds ends with the process of the command', { skip }, async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'lock')
  const script = join(directory, 'stuck.mjs')
  writeFileSync(
    script,
    `import { lockWithFlock } from ${JSON.stringify(resolve('packages/fastify-contract/src/cli/token-file-update.ts'))}
    await lockWithFlock(${JSON.stringify(path)}, ${long})
    console.log('locked')
    for (;;);`,
  )
  const stuck = spawnProcess(nodeCommand(script))
  t.teardown(() => stuck.signal('SIGKILL'))
  await stuck.find('stdout', /^locked$/m)
  await stuck.stop('SIGKILL')
  ;(await lockWithFlock(path, long))?.()
})

t.test('a lock in a missing directory and a missing flock program are reported', async (t) => {
  const directory = t.testdir({})
  mkdirSync(join(directory, 'empty'))
  if (skip === false)
    await t.rejects(lockWithFlock(join(directory, 'none', 'lock'), long), {
      message: exactly('cannot be locked: flock ended with exit code 66'),
    })
  t.throws(() => createLockFile(join(directory, 'none', 'lock')), { code: 'ENOENT' })
  const { PATH } = process.env
  t.teardown(() => {
    process.env.PATH = PATH
  })
  process.env.PATH = join(directory, 'empty')
  const message = exactly('cannot be locked: install the program flock of util-linux')
  await t.rejects(lockWithFlock(join(directory, 'lock'), long), { message })
})

t.test('a file gets its name when it is complete, readable by its owner only', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.jsonl')
  const file = await openAtomicFile(path)
  await file.write('a\n')
  await file.write('b\n')
  t.same(readdirSync(directory), ['plants.jsonl.unfinished'])
  await file.finish()
  await file.close()
  t.same(readdirSync(directory), ['plants.jsonl'])
  t.equal(readFileSync(path, 'utf8'), 'a\nb\n')
  t.equal(statSync(path).mode & 0o777, 0o600)
})

t.test('an existing file keeps its mode and links, and its content until the new file is complete', async (t) => {
  const directory = t.testdir({ real: { 'plants.jsonl': 'old', 'plants.jsonl.unfinished': 'of a killed process' } })
  const real = join(directory, 'real', 'plants.jsonl')
  const link = join(directory, 'link.jsonl')
  chmodSync(real, 0o644)
  symlinkSync(real, link)
  const left = await openAtomicFile(link)
  await left.write('half')
  await left.close()
  t.equal(readFileSync(real, 'utf8'), 'old')
  t.same(readdirSync(join(directory, 'real')), ['plants.jsonl'])
  const file = await openAtomicFile(link)
  await file.write('new')
  await file.finish()
  await file.close()
  t.equal(readFileSync(real, 'utf8'), 'new')
  t.equal(statSync(real).mode & 0o777, 0o644)
  t.ok(statSync(link).isFile())
})

t.test('of two processes that write one file, the first does not publish the work of the second', async (t) => {
  const path = join(t.testdir({}), 'plants.jsonl')
  const first = await openAtomicFile(path)
  const second = await openAtomicFile(path)
  await second.write('second')
  await t.rejects(first.finish(), { message: exactly(`another process is writing ${path}; name another file`) })
  await first.close()
  await second.finish()
  await second.close()
  t.equal(readFileSync(path, 'utf8'), 'second')
})

t.test('a path that is not a file, or has no directory, is rejected', async (t) => {
  const directory = t.testdir({ inner: {} })
  const inner = join(directory, 'inner')
  await t.rejects(openAtomicFile(inner), { message: exactly(`${inner} is not a file; name a file`) })
  rmSync(inner, { recursive: true })
  await t.rejects(openAtomicFile(join(inner, 'a')), {
    message: exactly(`${inner} does not exist; create that directory`),
  })
  mkdirSync(inner)
  writeFileSync(join(inner, 'a'), '')
  await (await openAtomicFile(join(inner, 'a'))).close()
  await t.rejects(openAtomicFile('/dev/null'), { message: /^\/dev\/null is not a file; name a file$/ })
})

const now = Date.parse('2026-01-31T12:00:00Z')

t.test('durations are parsed', async (t) => {
  const durations: [string, number][] = [
    ['0s', 0],
    ['10s', 10_000],
    ['30m', 1_800_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
  ]
  for (const [text, milliseconds] of durations) t.equal(parseDuration(text, '--overlap'), milliseconds)
  for (const text of ['', '24', 'h', '-1h', '1.5h', '1w', '24H', ' 24h', '24h\n', '10000d']) {
    const message = `--overlap is ${JSON.stringify(text)}; expected a duration such as 24h or 7d`
    t.throws(() => parseDuration(text, '--overlap'), usageError(message))
  }
})

t.test('an expiry is a duration, a date or a date-time in the future', async (t) => {
  const times: [string, string][] = [
    ['90d', '2026-05-01T12:00:00Z'],
    ['2026-02-01', '2026-02-01T00:00:00Z'],
    ['2026-01-31T12:00:01Z', '2026-01-31T12:00:01Z'],
    ['2026-01-31T12:00:00-01:00', '2026-01-31T13:00:00Z'],
  ]
  for (const [text, time] of times) t.equal(parseExpiry(text, now), Date.parse(time))
  for (const text of ['', 'never', '0s', '2026-01-31', '2026-01-31T12:00:00Z', '2027-02-29', '2027', '90']) {
    const message = `--expires is "${text}"; expected a future time, such as 90d, 2030-01-31 or 2030-01-31T12:00:00Z`
    t.throws(() => parseExpiry(text, now), usageError(message))
  }
})
