import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
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
import { dirname, join, resolve } from 'node:path'
import { nodeCommand, spawnProcess } from 'fastify-contract-test-support/child-process'
import { exactly, usageError } from 'fastify-contract-test-support/exact-pattern'
import { tokenFileText, writeTokenFile } from 'fastify-contract-test-support/token-files'
import t, { type Test } from 'tap'
import type { TokenEntry } from '../../src/auth/token-file.ts'
import { newToken } from '../../src/auth/tokens.ts'
import {
  type Change,
  create,
  list,
  parseDuration,
  parseExpiry,
  revoke,
  rotate,
} from '../../src/service/token-command.ts'
import { lockWithFlock, readTokens, updateTokenFile } from '../../src/service/token-file-update.ts'
import { ownPath } from '../support/own-path.ts'

const now = Date.parse('2026-01-31T12:00:00.789Z')
const shop = { name: 'shop', sha256: '0123456789abcdef'.repeat(4), created: '2026-01-01T00:00:00Z' }
const expired = { ...shop, sha256: 'a'.repeat(64), expires: '2026-01-31T12:00:00Z' }
const other = { name: 'other', sha256: '0123456f'.repeat(8), created: '2026-01-02T00:00:00Z', note: 'a note' }

const noName = usageError('--name is missing; expected 1 to 64 letters, digits and ._-')

/** Returns the digest of the token that a command prints; the token must be well-formed and the only output. */
function digestOf(t: Test, { result }: Change): string {
  const token = result.slice(0, -1)
  t.match(token, /^[\w-]{49}$/)
  t.equal(result, `${token}\n`)
  return hash('sha256', token)
}

t.test('create adds the first token of a client', async (t) => {
  const plain = create({ name: 'new' }, now)([shop])
  const entry = { name: 'new', sha256: digestOf(t, plain), created: '2026-01-31T12:00:00Z' }
  t.strictSame(plain.entries, [shop, entry])
  t.equal(plain.message, 'the token of new does not expire')

  const full = create({ name: 'shop', expires: '90d', note: 'n' }, now)([expired])
  const expires = '2026-05-01T12:00:00Z'
  t.strictSame(full.entries, [expired, { ...entry, name: 'shop', sha256: digestOf(t, full), expires, note: 'n' }])
  t.equal(full.message, 'the token of shop expires 2026-05-01T12:00:00Z')

  t.throws(() => create({ name: 'shop' }, now)([shop]), /^shop already has an active token; rotate or revoke it$/)
  t.throws(() => create({}, now), noName)
  t.throws(() => create({ name: 'new', expires: 'x' }, now), /^--expires is "x"; expected a future time, [^\n]+$/)
})

t.test('rotate adds a token and lets the earlier ones expire', async (t) => {
  const change = rotate({ name: 'shop' }, now)([shop, expired, other])
  const entry = { name: 'shop', sha256: digestOf(t, change), created: '2026-01-31T12:00:00Z' }
  t.strictSame(change.entries, [other, { ...shop, expires: '2026-02-01T12:00:00Z' }, entry], 'expired ones are removed')
  t.equal(change.message, 'the new token of shop does not expire; the previous ones expire by 2026-02-01T12:00:00Z')

  const sooner = { ...shop, expires: '2026-01-31T13:00:00Z' }
  t.strictSame(rotate({ name: 'shop' }, now)([sooner]).entries[0], sooner, 'rotation extends no lifetime')

  const quick = rotate({ name: 'other', overlap: '0s', expires: '1h', note: 'new' }, now)([other])
  const after = { ...entry, name: 'other', sha256: digestOf(t, quick), expires: '2026-01-31T13:00:00Z', note: 'new' }
  t.strictSame(quick.entries, [{ ...other, expires: '2026-01-31T12:00:00Z' }, after])
  t.match(list(quick.entries, now), /^other +0123456f .* expired +- +a note$/m)

  t.throws(() => rotate({ name: 'shop' }, now)([expired, other]), /^shop has no active token; create one$/)
  t.throws(() => rotate({}, now), noName)
  t.throws(() => rotate({ name: 'shop', overlap: '1' }, now), /^--overlap is "1"; expected a duration [^\n]+$/)
  t.throws(() => rotate({ name: 'shop', expires: '1' }, now), /^--expires is "1"; expected a future time, [^\n]+$/)
})

t.test('a rotated token keeps note and lifetime', async (t) => {
  const first = { ...other, expires: '2026-02-01T00:00:00Z' }
  const once = rotate({ name: 'other' }, now)([first])
  t.hasStrict(once.entries[1], { expires: '2026-03-02T12:00:00Z', note: 'a note' })
  const twice = rotate({ name: 'other' }, now + 3_600_000)(once.entries)
  t.same(
    twice.entries.map(({ expires }) => expires),
    ['2026-02-01T00:00:00Z', '2026-02-01T13:00:00Z', '2026-03-02T13:00:00Z'],
  )
})

t.test('a token has the given scopes, and rotate keeps them', async (t) => {
  const made = create({ name: 'new', scope: 'plants:read plants:write' }, now)([])
  t.hasStrict(made.entries, [{ scope: 'plants:read plants:write' }])
  t.hasStrict(rotate({ name: 'new' }, now)(made.entries).entries[1], { scope: 'plants:read plants:write' })
  t.hasStrict(rotate({ name: 'new', scope: 'plants:read' }, now)(made.entries).entries[1], { scope: 'plants:read' })
  const message = '--scope is invalid; expected scopes with one space between them, at most 1000 characters'
  for (const command of [create, rotate])
    t.throws(() => command({ name: 'new', scope: 'a,"b"' }, now), usageError(message))
})

t.test('an invalid name or note is rejected without being shown', async (t) => {
  for (const command of [create, rotate]) {
    const name = usageError('--name is invalid; expected 1 to 64 letters, digits and ._-')
    for (const wrong of ['', 'the shop', 'a\nb', newToken() + newToken()])
      t.throws(() => command({ name: wrong }, now), name)
    const note = usageError('--note is invalid; expected one line of at most 200 characters')
    t.throws(() => command({ name: 'shop', note: 'a\nb' }, now), note)
  }
})

t.test('revoke removes the tokens of a client, or one', async (t) => {
  const entries = [shop, expired, other]
  t.strictSame(revoke({ name: 'shop' })(entries), { entries: [other], result: '', message: '2 tokens are revoked' })
  t.strictSame(revoke({ digest: 'aaaaaaaa' })(entries).entries, [shop, other])
  t.strictSame(revoke({ digest: shop.sha256 })(entries).entries, [expired, other])
  t.strictSame(revoke({ digest: '01234567', name: 'shop' })(entries).entries, [expired, other])

  t.throws(() => revoke({ name: 'sho' })(entries), /^no token matches$/)
  t.throws(() => revoke({ name: 'other', digest: 'aaaaaaaa' })(entries), /^no token matches$/)
  const alike = { ...other, sha256: shop.sha256.replace(/f$/, 'e') }
  t.throws(() => revoke({ digest: '01234567' })([shop, alike]), /^2 tokens match this digest; give more digits$/)
  t.throws(() => revoke({}), usageError('specify --name or --digest'))
  for (const digest of ['', '0123456', 'A'.repeat(8), 'a'.repeat(65), 'plants_x']) {
    const expected = '8 to 64 hexadecimal digits, as list shows them'
    t.throws(() => revoke({ digest, name: 'shop' }), usageError(`--digest is invalid; expected ${expected}`))
  }
})

t.test('list shows the first eight digits of each digest', async (t) => {
  t.equal(
    list([{ ...shop, scope: 'r w' }, expired, other], now),
    `NAME   DIGEST    CREATED               EXPIRES               STATE    SCOPE  NOTE
shop   01234567  2026-01-01T00:00:00Z  -                     active   r w
shop   aaaaaaaa  2026-01-01T00:00:00Z  2026-01-31T12:00:00Z  expired  -
other  0123456f  2026-01-02T00:00:00Z  -                     active   -      a note
`,
  )
})

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
  t.equal(statSync(`${path}-lock`).mode & 0o777, 0o600, 'earlier releases let all users read it')
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

t.test('a directory at the path of the lock is reported', async (t) => {
  const path = writeTokenFile(t)
  mkdirSync(`${path}-lock`)
  await t.rejects(update(path, added), { code: 'EISDIR', message: exactly(`${path}-lock is a directory; remove it`) })
})

t.test('a path that is too long for the name of a lock is reported', async (t) => {
  const path = join(t.testdir({}), 'a'.repeat(252))
  await t.rejects(update(path, added), { code: 'ENAMETOOLONG' })
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
    `import { lockWithFlock } from ${JSON.stringify(resolve(ownPath('src/service/token-file-update.ts')))}
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
  const { PATH } = process.env
  t.teardown(() => {
    process.env.PATH = PATH
  })
  process.env.PATH = join(directory, 'empty')
  const message = exactly('cannot be locked: install the program flock of util-linux')
  await t.rejects(lockWithFlock(join(directory, 'lock'), long), { message })
})

const noon = Date.parse('2026-01-31T12:00:00Z')

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
  for (const [text, time] of times) t.equal(parseExpiry(text, noon), Date.parse(time))
  for (const text of ['', 'never', '0s', '2026-01-31', '2026-01-31T12:00:00Z', '2027-02-29', '2027', '90']) {
    const message = `--expires is "${text}"; expected a future time, such as 90d, 2030-01-31 or 2030-01-31T12:00:00Z`
    t.throws(() => parseExpiry(text, noon), usageError(message))
  }
})
