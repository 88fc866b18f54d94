import t from 'tap'
import { createJwtCache } from '../../src/auth/jwt.ts'

t.test('a token is cached for a minute, or until it expires', async (t) => {
  let now = 5_000
  let ahead = 1_000_000
  const tokens = createJwtCache({ now: () => now, wallClock: () => now + ahead })
  const add = (token: string, name: string, expiresIn: number) =>
    tokens.add(token, { name, scopes: [] }, now + ahead + expiresIn)
  add('long', 'a', 600_000)
  add('short', 'b', 1_000)
  add('expired', 'c', -1)
  const known = () => ['long', 'short', 'expired', 'other'].map((token) => tokens.get(token)?.name)
  t.same(known(), ['a', 'b', undefined, undefined])
  now += 999
  t.same(known(), ['a', 'b', undefined, undefined])
  now += 1
  t.same(known(), ['a', undefined, undefined, undefined])
  now += 58_999
  t.same(known(), ['a', undefined, undefined, undefined])
  ahead += 540_001
  t.same(known(), [undefined, undefined, undefined, undefined], 'the wall clock has reached the expiry')
  now += 1
  t.same(known(), [undefined, undefined, undefined, undefined])
})

t.test('the oldest entries are evicted', async (t) => {
  const tokens = createJwtCache({ size: 2 })
  for (const token of ['a', 'b', 'a', 'c']) tokens.add(token, { name: token, scopes: [] }, Number.POSITIVE_INFINITY)
  t.same(
    ['a', 'b', 'c'].map((token) => tokens.get(token)?.name),
    ['a', undefined, 'c'],
  )
})
