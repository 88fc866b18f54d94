import t from 'tap'
import { matchesPattern } from '../../src/compile/document/patterns.ts'
import { exampleOf } from '../../src/compile/emit/examples.ts'

t.test('a pattern matches with the flag u, and an invalid one matches nothing', async (t) => {
  t.equal(matchesPattern('^\\p{L}.$', 'ä\u{1f600}'), true)
  t.equal(matchesPattern('^a$', 'b'), false)
  t.equal(matchesPattern('(', '('), false)
})

t.test('a pattern with catastrophic backtracking takes 200 ms at most', async (t) => {
  const began = performance.now()
  t.equal(matchesPattern('^(\\w+)+!$', 'x'.repeat(60)), undefined)
  t.ok(performance.now() - began < 2000)
  t.equal(matchesPattern('^a$', 'a'), true, 'the next pattern matches')
})

t.test('an example of a pattern with catastrophic backtracking is found or given up in time', async (t) => {
  const document = { openapi: '3.1.0', info: { title: 'a', version: '1' } }
  const text = (more: object) => exampleOf(document, { type: 'string', ...more })
  const began = performance.now()
  t.match(text({ pattern: '^(\\w+)+!$', minLength: 28 }), /^a{841}!$/)
  t.equal(text({ pattern: '^(\\w+)+(?=x)!$', minLength: 40 }), '')
  t.ok(performance.now() - began < 4000)
  t.equal(text({ pattern: '^a*$', minLength: 3 }), 'aaa')
  t.equal(text({ pattern: '^(?=x)\\w+$', minLength: 3 }), 'xxx')
  t.equal(text({ pattern: 'b|^$' }), 'b')
  t.equal(text({ minLength: 3 }), 'xxx')
  t.equal(text({ maxLength: 3 }), '')
})
