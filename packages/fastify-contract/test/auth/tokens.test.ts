import t from 'tap'
import { containsToken, formatToken, listVerifier, newToken, tokenProblem } from '../../src/auth/tokens.ts'

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
  ]) {
    t.notOk(verify(token as string))
  }
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
    message: `listVerifier: token ${which}; expected at least 128 bits, as from newToken()`,
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
  for (const other of ['', 'plants_', token.slice(0, -1), token.slice(7), `Plants${token.slice(6)}`]) {
    t.notOk(containsToken(`"${other}"`), other)
  }
})
