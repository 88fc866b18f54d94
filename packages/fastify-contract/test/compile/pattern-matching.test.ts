import t from 'tap'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { growthOf, matchesPattern } from '../../src/compile/document/patterns.ts'
import { exampleOf } from '../../src/compile/emit/examples.ts'
import { checkDocument } from '../../src/compile/rules/check-document.ts'
import { serveDocument } from '../support/serve-document.ts'

t.test('a pattern matches with the flag u, and an invalid one matches nothing', async (t) => {
  t.equal(matchesPattern('^\\p{L}.$', 'ä\u{1f600}'), true)
  t.equal(matchesPattern('^a$', 'b'), false)
  t.equal(matchesPattern('(', '('), false)
})

t.test('a pattern that only the flag u forbids matches as it is written', async (t) => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Patterns', version: '1' },
    paths: {
      '/a': {
        post: {
          operationId: 'a',
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: {
                  properties: { time: { pattern: '^\\d{2}[\\-\\:]\\d{2}$' }, name: { pattern: '^[\\w-.]{2}$' } },
                  patternProperties: { '^x\\_': { type: 'integer' } },
                },
              },
            },
          },
          responses: { 204: {} },
        },
      },
    },
  }
  const app = await serveDocument(document as unknown as Document, {
    handlers: { a: async () => ({ status: 204, body: undefined }) },
  })
  const post = async (payload: object) => (await app.inject({ method: 'POST', url: '/a', payload })).statusCode
  t.equal(await post({ time: '12:30', name: 'a-', x_: 1, 'x\\_': 'b' }), 204)
  t.equal(await post({ time: '12.30' }), 400)
  t.equal(await post({ name: 'a b' }), 400)
  t.equal(await post({ x_: 'a' }), 400)
  t.match(exampleOf(document, { type: 'string', pattern: '^[\\:]{2}$' }), '::')
  t.equal(growthOf('^([\\-\\:]+)+$'), 'steep', 'its time is bounded all the same')
  for (const foreign of ['\\A[a-z]+\\z', '[\\p{IsLetter}]', '(?P<name>a)']) {
    const { refused } = checkDocument({ ...document, components: { schemas: { A: { pattern: foreign } } } } as never)
    t.same(refused, [`#/components/schemas/A/pattern: ${foreign} is not a regular expression of ECMA-262; correct it`])
  }
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
