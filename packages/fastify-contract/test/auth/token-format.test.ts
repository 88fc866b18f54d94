import t from 'tap'
import { formatToken, isMistyped, newToken, tokenPattern } from '../../src/auth/tokens.ts'

t.test('a token has the documented prefix and alphabet', async (t) => {
  const tokens = Array.from({ length: 100 }, newToken)
  t.equal(new Set(tokens).size, 100)
  for (const token of tokens) {
    t.equal(tokenPattern.exec(`"Authorization: Bearer ${token}".`)?.[0], token)
    t.match(token, /^[\w.~+/-]+=*$/, 'RFC 6750 section 2.1')
    t.notOk(isMistyped(token))
  }
})

t.test('the format does not change', async (t) => {
  t.equal(formatToken(Buffer.alloc(32, 0xfb)), 'plants_-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_sYoULnA')
})

t.test('the checksum rejects every typing error', async (t) => {
  const token = newToken()
  const slips = new Set<string>()
  for (let at = 7; at < token.length; at++) {
    const [before, one = '', next = '', after] = [token.slice(0, at), token[at], token[at + 1], token.slice(at + 2)]
    slips.add(before + next + one + after)
    slips.add(before + next + after)
    slips.add(before + one + one + next + after)
    slips.add(before + one.toUpperCase() + next + after).add(before + one.toLowerCase() + next + after)
    for (const other of 'aZ0-_.') slips.add(before + other + next + after)
  }
  slips.delete(token)
  t.ok(slips.size > 400)
  for (const slip of slips) t.ok(isMistyped(slip), slip)
  t.ok(isMistyped('plants_'))
})

t.test('a token of another format is not reported as mistyped', async (t) => {
  for (const other of ['', 'plants', 'Plants_x', newToken().slice(7)]) t.notOk(isMistyped(other))
})
