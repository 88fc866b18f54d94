import { hash } from 'node:crypto'
import t, { type Test } from 'tap'
import { usageError } from '../../../../test/support/exact-pattern.ts'
import { newToken } from '../../src/auth/tokens.ts'
import { type Change, create, list, revoke, rotate } from '../../src/cli/token.ts'

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
  for (const command of [create, rotate]) {
    t.throws(() => command({ name: 'new', scope: 'a,"b"' }, now), usageError(message))
  }
})

t.test('an invalid name or note is rejected without being shown', async (t) => {
  for (const command of [create, rotate]) {
    const name = usageError('--name is invalid; expected 1 to 64 letters, digits and ._-')
    for (const wrong of ['', 'the shop', 'a\nb', newToken() + newToken()]) {
      t.throws(() => command({ name: wrong }, now), name)
    }
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
