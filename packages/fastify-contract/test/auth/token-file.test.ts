import { execFileSync } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exactly } from 'fastify-contract-test-support/exact-pattern'
import { heapInUse } from 'fastify-contract-test-support/heap'
import { inSeconds, tokenFileText } from 'fastify-contract-test-support/token-files'
import t from 'tap'
import { parseDateTime, parseTokenFile, readTokenFile } from '../../src/auth/token-file.ts'
import { indexTokens } from '../../src/auth/token-verifier.ts'
import {
  containsToken,
  digestLookup,
  formatToken,
  listVerifier,
  newToken,
  tokenProblem,
} from '../../src/auth/tokens.ts'

const entry = { name: 'shop', sha256: '0123456789abcdef'.repeat(4), created: '2026-01-31T12:00:00Z' }
const full = {
  name: 'a.B_c-9',
  sha256: 'f'.repeat(64),
  created: '2026-01-31T12:00:00.5+01:00',
  expires: '2027-01-31T12:00:00Z',
  scope: 'plants:read plants:write',
  note: 'für den Laden 🌱',
}

t.test('entries are returned as written', async (t) => {
  const longest = {
    ...full,
    name: 'a'.repeat(64),
    scope: `${'a'.repeat(499)} ${'b'.repeat(500)}`,
    note: 'a'.repeat(200),
  }
  for (const tokens of [
    [],
    [entry],
    [entry, full],
    [entry, { ...longest, sha256: 'a'.repeat(64) }],
    [{ ...entry, note: '' }],
  ])
    t.strictSame(parseTokenFile(JSON.stringify({ tokens })), tokens)
})

t.test('an invalid entry is reported by its position, without its content', async (t) => {
  const top = 'wrong structure; expected an object whose only member is an array "tokens"'
  const texts: [string, string][] = [
    ['', 'not valid JSON: unexpected end at character 0'],
    ['secret', 'not valid JSON: unexpected character at character 0'],
    ['{"tokens":[],"tokens":[]}', 'not valid JSON: the same name twice in one object at character 21'],
    ['null', top],
    ['"secret"', top],
    ['[]', top],
    ['{}', top],
    ['{"tokens":{}}', top],
    ['{"tokens":[],"secret":1}', top],
    ['{"secret":1,"tokens":[]}', top],
    ['{"tokens":[],}', 'not valid JSON: unexpected character at character 13'],
    ['{"tokens":[]', 'not valid JSON: unexpected end at character 12'],
    [
      `{"tokens":[${JSON.stringify(entry)},`,
      `not valid JSON: unexpected end at character ${12 + JSON.stringify(entry).length}`,
    ],
    ['{"tokens":[],"__proto__":1}', top],
    [
      JSON.stringify({ tokens: [{ ...entry, note: newToken('plants_') }] }),
      'contains a token; expected the SHA-256 digests of tokens',
    ],
    [
      JSON.stringify({ tokens: [entry, full, { ...entry, name: 'other' }] }),
      'tokens[2].sha256 is the same as in tokens[0]; expected one entry for each token',
    ],
  ]
  for (const [text, message] of texts) t.throws(() => parseTokenFile(text), { message: exactly(message) }, text)

  const name = 'expected 1 to 64 letters, digits and ._-'
  const sha256 = 'expected 64 hexadecimal digits in lower case'
  const date = 'expected a date and time such as 2026-01-31T12:00:00Z'
  const scope = 'expected scopes with one space between them, at most 1000 characters'
  const note = 'expected one line of at most 200 characters'
  const values: [unknown, string][] = [
    [null, `.name is missing; ${name}`],
    ['secret', `.name is missing; ${name}`],
    [[], `.name is missing; ${name}`],
    [{ ...entry, name: '' }, `.name is invalid; ${name}`],
    [{ ...entry, name: 'the shop' }, `.name is invalid; ${name}`],
    [{ ...entry, name: 'shop\n' }, `.name is invalid; ${name}`],
    [{ ...entry, name: 'a'.repeat(65) }, `.name is invalid; ${name}`],
    [{ ...entry, name: 1 }, `.name is invalid; ${name}`],
    [{ ...entry, sha256: undefined }, `.sha256 is missing; ${sha256}`],
    [{ ...entry, sha256: 'a-token-of-the-tests-0123456789-abcdef' }, `.sha256 is invalid; ${sha256}`],
    [{ ...entry, sha256: 'A'.repeat(64) }, `.sha256 is invalid; ${sha256}`],
    [{ ...entry, sha256: 'a'.repeat(63) }, `.sha256 is invalid; ${sha256}`],
    [{ ...entry, sha256: ['a'.repeat(64)] }, `.sha256 is invalid; ${sha256}`],
    [{ ...entry, created: undefined }, `.created is missing; ${date}`],
    [{ ...entry, created: '2026-02-30T12:00:00Z' }, `.created is invalid; ${date}`],
    [{ ...entry, expires: null }, `.expires is invalid; ${date}`],
    [{ ...entry, expires: '' }, `.expires is invalid; ${date}`],
    [{ ...entry, expires: '2027-01-31' }, `.expires is invalid; ${date}`],
    [{ ...entry, scope: '' }, `.scope is invalid; ${scope}`],
    [{ ...entry, scope: 'a  b' }, `.scope is invalid; ${scope}`],
    [{ ...entry, scope: ' a' }, `.scope is invalid; ${scope}`],
    [{ ...entry, scope: 'a"b' }, `.scope is invalid; ${scope}`],
    [{ ...entry, scope: 'é' }, `.scope is invalid; ${scope}`],
    [{ ...entry, scope: ['a'] }, `.scope is invalid; ${scope}`],
    [{ ...entry, scope: 'a'.repeat(1_001) }, `.scope is invalid; ${scope}`],
    [{ ...entry, note: 'two\nlines' }, `.note is invalid; ${note}`],
    [{ ...entry, note: '\u001b[2J' }, `.note is invalid; ${note}`],
    [{ ...entry, note: '\u202e' }, `.note is invalid; ${note}`],
    [{ ...entry, note: 'a'.repeat(201) }, `.note is invalid; ${note}`],
    [
      { ...entry, expire: '2020-01-01T00:00:00Z' },
      ' has an unknown member; expected name, sha256, created, expires, scope, note',
    ],
    [{ ...entry, toString: 'x' }, ' has an unknown member; expected name, sha256, created, expires, scope, note'],
  ]
  for (const [value, message] of values) {
    const text = JSON.stringify({ tokens: [full, value] })
    t.throws(() => parseTokenFile(text), { message: exactly(`tokens[1]${message}`) }, text)
  }
})

t.test('a file that others can write is rejected, one that others can read is not', async (t) => {
  const path = join(t.testdir({ 'tokens.json': '{"tokens":[]}' }), 'tokens.json')
  for (const mode of [0o600, 0o400, 0o440, 0o444, 0o644, 0o755]) {
    chmodSync(path, mode)
    t.equal(String(await readTokenFile(path)), '{"tokens":[]}', mode.toString(8))
  }
  for (const mode of [0o620, 0o602, 0o664, 0o666, 0o777]) {
    chmodSync(path, mode)
    const message = `writable by users other than its owner (mode ${mode.toString(8)}); run chmod go-w on it`
    await t.rejects(readTokenFile(path), { message: exactly(message) })
  }
})

t.test('anything but a regular file is rejected at once', async (t) => {
  const directory = t.testdir({ file: '' })
  execFileSync('mkfifo', ['-m', '600', join(directory, 'pipe')])
  await t.rejects(readTokenFile(join(directory, 'pipe')), { message: /^not a regular file$/ })
  await t.rejects(readTokenFile(directory), { message: /^not a regular file$/ })
  await t.rejects(readTokenFile('/dev/zero'), { message: /^not a regular file$/ })
  await t.rejects(readTokenFile(join(directory, 'none')), { code: 'ENOENT' })
  await t.rejects(readTokenFile(join(directory, 'file', 'tokens.json')), { code: 'ENOTDIR' })
  writeFileSync(join(directory, 'file'), 'text')
  t.equal(String(await readTokenFile(join(directory, 'file'))), 'text')
})

t.test('RFC 3339 date-times are parsed', async (t) => {
  const times: [string, number][] = [
    ['1970-01-01T00:00:00Z', 0],
    ['1970-01-01T00:00:00.250Z', 250],
    ['1970-01-01T01:00:01+01:00', 1_000],
    ['1969-12-31T23:59:59-00:30', 1_799_000],
    ['2024-02-29T12:00:00Z', 1_709_208_000_000],
  ]
  for (const [text, time] of times) t.equal(parseDateTime(text), time, text)
})

t.test('other text is parsed as undefined', async (t) => {
  const others = [
    '',
    '2026',
    '2026-01-31',
    '2026-01-31 12:00:00Z',
    '2026-01-31T12:00Z',
    '2026-01-31T12:00:00',
    '2026-01-31T12:00:00+0100',
    '2026-01-31T12:00:00Z ',
    '2026-01-31T12:00:00Z\n',
    'x2026-01-31T12:00:00Z',
    '2026-02-29T12:00:00Z',
    '2026-02-30T12:00:00+01:00',
    '2026-13-01T12:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-15T24:00:00Z',
    '2026-01-31T23:59:60Z',
    '2026-01-31T12:00:00+25:00',
    '+002026-01-31T12:00:00Z',
  ]
  for (const text of others) t.equal(parseDateTime(text), undefined, text)
})

t.test('reading many tokens yields to other work', async (t) => {
  const count = 5_000
  const text = tokenFileText(
    ...Array.from({ length: count }, (_, n): [string, string] => [`client-${n}`, `token-${n}`]),
  )
  let turns = 0
  let isDone = false
  const countTurns = () => {
    turns++
    if (!isDone) setImmediate(countTurns)
  }
  setImmediate(countTurns)
  const { tokens, clients } = await indexTokens(text)
  isDone = true
  t.ok(turns >= count / 500, `${turns} turns of the event loop`)
  t.same([tokens.size, clients], [count, count])
  t.hasStrict(tokens.get(hash('sha256', 'token-4999')), { client: { name: 'client-4999', scopes: [] } })
})

t.test('a token has the scopes of its entry, by default none', async (t) => {
  const { tokens: entries } = JSON.parse(tokenFileText(['a', 'one'], ['b', 'two'], ['c', 'three']))
  entries[0].scope = entries[1].scope = 'plants:read plants:write'
  const { tokens } = await indexTokens(JSON.stringify({ tokens: entries }))
  const [one, two, three] = ['one', 'two', 'three'].map((token) => tokens.get(hash('sha256', token))?.client.scopes)
  t.same([one, three], [['plants:read', 'plants:write'], []])
  t.equal(one, two, 'many entries share one list')
})

t.test('clients with an unexpired token are counted by name', async (t) => {
  const text = tokenFileText(['a', 'one'], ['a', 'two', inSeconds(60)], ['b', 'three', inSeconds(-60)], ['c', 'four'])
  const { tokens, clients } = await indexTokens(text)
  t.same([tokens.size, clients], [4, 2])
})

const digest = (token: string) => hash('sha256', token)

t.test('a token is found by its digest, the first time and each later time', (t) => {
  const asked: string[] = []
  const find = digestLookup((digest) => {
    asked.push(digest)
    return 'client'
  })
  t.equal(find('one'), 'client')
  t.equal(find('one'), 'client')
  t.same(asked, [digest('one'), digest('one')])
  t.end()
})

t.test('a token that is removed from the list is no longer found', (t) => {
  const clients = new Map([[digest('one'), 'client']])
  const find = digestLookup((digest) => clients.get(digest))
  t.equal(find('one'), 'client')
  clients.clear()
  t.equal(find('one'), undefined)
  clients.set(digest('one'), 'other')
  t.equal(find('one'), 'other')
  t.end()
})

t.test('tokens beyond the size of the cache, and long tokens, are still found', (t) => {
  const find = digestLookup((digest) => digest)
  const tokens = Array.from({ length: 1_001 }, (_, index) => `token ${index}`)
  for (const token of [...tokens, ...tokens, 'x'.repeat(2_000)]) if (find(token) !== digest(token)) t.fail(token)
  t.end()
})

t.test('the cache keeps some tokens in memory, but not the headers that they were sent in', (t) => {
  const find = digestLookup(() => 'client')
  const before = heapInUse()
  for (let sent = 0; sent < 1_000; sent++) {
    const header = Buffer.from(`Bearer ${' '.repeat(15_000)}${randomBytes(32).toString('hex')}`).toString()
    find(header.slice(-64))
  }
  for (let sent = 0; sent < 30_000; sent++) find(randomBytes(32).toString('hex'))
  const kept = heapInUse() - before
  t.ok(kept < 2 ** 22, `${kept} bytes`)
  t.equal(find('one'), 'client')
  t.end()
})

t.test('only tokens of the list are accepted', async (t) => {
  const tokens = [newToken(), newToken(), newToken()]
  const verify = listVerifier(tokens)
  for (const token of tokens) t.ok(verify(token))
  for (const token of [
    '',
    newToken(),
    tokens.join(','),
    `${tokens[0]} `,
    tokens[0]?.slice(1),
    tokens[0]?.toLowerCase(),
  ])
    t.notOk(verify(token as string))
  t.notOk(listVerifier([])(''), 'an empty list accepts no token')
})

t.test('a client is named by its position and has the scopes of the list', async (t) => {
  const tokens = [newToken(), newToken()]
  t.same(listVerifier(tokens)(tokens[1] as string), { name: 'access-token-2', scopes: [] })
  t.same(listVerifier(tokens, ['a', 'b'])(tokens[0] as string), { name: 'access-token-1', scopes: ['a', 'b'] })
})

t.test('a token with fewer than 128 bits is rejected', async (t) => {
  const good = [
    newToken(),
    '0123456789abcdef0123456789abcdef',
    '0123456789abcdefghijKL',
    '012345678901234567890123456789012345678',
  ]
  for (const token of good) t.equal(tokenProblem(token), undefined)
  t.equal(tokenProblem('0123456789abcdef'), 'has 16 characters, at most 64 bits')
  t.equal(tokenProblem('0123456789abcdefghijk'), 'has 21 characters, at most 108 bits')
  t.equal(tokenProblem('01234567890123456789012345678901234567'), 'has 38 characters, at most 126 bits')
  t.equal(tokenProblem(''), 'is empty')
  t.equal(tokenProblem(`${newToken()}é`), 'has characters other than letters, digits and -._~+/=')
  t.equal(tokenProblem('ab'.repeat(40)), 'repeats a few characters')
})

t.test('a list with a weak token throws, without showing it', async (t) => {
  const weak = (which: string) => ({
    message: `listVerifier: token ${which}; expected at least 128 bits, as from newToken() or openssl rand -hex 32`,
  })
  t.throws(() => listVerifier([newToken(), '']), weak('2 of 2 is empty'))
  // The text of an environment variable that is not set.
  t.throws(() => listVerifier([String(undefined)]), weak('1 of 1 has 9 characters, at most 46 bits'))
})

t.test('a token has the documented prefix and alphabet', async (t) => {
  const tokens = Array.from({ length: 100 }, () => newToken('plants_'))
  t.equal(new Set(tokens).size, 100)
  for (const token of tokens) {
    t.match(token, /^plants_[\w-]{49}$/)
    t.ok(containsToken(`"Authorization: Bearer ${token}".`))
  }
  t.match(newToken(''), /^[\w-]{49}$/)
})

t.test('the format does not change', async (t) => {
  const secret = Buffer.alloc(32, 0xfb)
  t.equal(formatToken('plants_', secret), 'plants_-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_sYoULnA')
})

t.test('the checksum tells a token from similar text', async (t) => {
  const token = newToken('plants_')
  t.ok(containsToken(`my_${token}`), 'more text may precede it')
  for (const other of ['', 'plants_', token.slice(0, -1), token.slice(7), `Plants${token.slice(6)}`])
    t.notOk(containsToken(`"${other}"`), other)
})
