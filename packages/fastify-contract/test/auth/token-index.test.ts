import { hash } from 'node:crypto'
import t from 'tap'
import { inSeconds, tokenFileText } from '../../../../test/support/token-files.ts'
import { indexTokens } from '../../src/auth/token-verifier.ts'

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
