import { createRequire } from 'node:module'
import fc from 'fast-check'
import type { Schema } from 'fastify-contract/contract'
import { compilePattern, createValidator, linearPattern } from 'fastify-contract/schema'
import { fixedSeed } from 'fastify-contract-test-support/fixed-seed'
import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { growthOf, matchesPattern, textOfPattern } from '../../src/document/patterns.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { exampleOf } from '../../src/examples/schema-values.ts'
import { checkDocument } from '../../src/rules/check-document.ts'
import { serveDocument } from '../support/serve-document.ts'

const surelyLinear = [
  '^[a-z]+$',
  '^\\p{Lu}{2}-[^\\]]*?\\]$',
  '^.{1,9}',
  '^a{2,}b',
  '^\\d+\\.\\d+\\.\\d+$',
  '^[^:]*:a+b{2}-*\\$c?$',
  '^\\d{3}-\\d{4}$',
  '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
]

// The first test, since a module stays in the cache.
t.test('a pattern whose repetitions end at other characters is linear without the analyzer', async (t) => {
  const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('/recheck/'))
  for (const pattern of surelyLinear) t.equal(growthOf(pattern), 'linear', pattern)
  t.notOk(isLoaded())
  for (const pattern of ['^a+\\u0061+$', '^\\w+a+b$', '^a+b?a+$']) t.equal(growthOf(pattern), 'quadratic')
  t.ok(isLoaded())
})

t.test('a text built from a pattern matches the pattern', async (t) => {
  const cases: [pattern: string, text: string, longer: string][] = [
    ['', '', ''],
    ['^(\\d{4})-(\\d{2})$', '0000-00', '0000-00'],
    ['^a|b$', 'a', 'a'],
    ['^[a-z]*[A-Z]?x+$', 'x', 'aaaAxxxx'],
    ['^(?:-?[0-9a-f]{2}){1,3}?$', 'aa', '-aa-aa-aa'],
    ['^(?<first>\\w)(?!x).{3,5}$', 'aaaa', 'aaaaaa'],
    ['^\\p{Lu}\\u0041\\x42[^a-z][\\]]\\/$', 'AAB0]/', 'AAB0]/'],
    ['^\\s\\bfoo\\b$', ' foo', ' foo'],
    ['^é.$', 'éa', 'éa'],
    ['^a{2,}$', 'aa', 'aaaaa'],
    ['^(?=.*[A-Z])(?=.*\\d)[A-Za-z\\d]{4,}$', 'A0aa', 'aaaAaaa0'],
    ['^(?=a)\\w{0,4}$', 'a', 'aaa'],
    ['^(?!0)\\d+$', '1', '1111'],
  ]
  for (const [pattern, text, longer] of cases) {
    t.equal(textOfPattern(pattern), text, pattern)
    t.equal(textOfPattern(pattern, 3), longer, pattern)
  }
})

t.test('no text is returned when parts do not match together, are too long, or the pattern is invalid', async (t) => {
  for (const pattern of [
    '^(?=a)b',
    '^(?<n>a|b)\\k<n>$',
    '\\bfoo\\B',
    '^a{2000}$',
    '^[]$',
    '^(a',
    '^\\cA$',
    '\u{1f600}{9999999}',
  ])
    t.equal(textOfPattern(pattern), undefined, pattern)
  t.equal(textOfPattern('^(a{999}){9}$'), undefined)
  t.equal(textOfPattern('\u{1f600}+'), '\u{1f600}')
})

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
  const unknown = [
    '[\\p{IsGreek}]',
    '\\p{IsThai}',
    '[\\A-Z]',
    '^[[:alpine:]]+$',
    '^[[:constructor:]]+$',
    '^[[:^alpha:]]+$',
    '\\h',
    '[a-z&&[^b]]',
    'a{,5}',
    'a{1, 5}',
    'a++',
    'a(?i)b',
    '(?m)^a$',
  ]
  for (const foreign of unknown) {
    const { rejected } = checkDocument({ ...document, components: { schemas: { A: { pattern: foreign } } } } as never)
    t.same(rejected, [`#/components/schemas/A/pattern: ${foreign} is not a regular expression of ECMA-262; correct it`])
  }
})

t.test('a pattern of another dialect is translated where its meaning is certain', async (t) => {
  const cases: [pattern: string, valid: string[], invalid: string[]][] = [
    ['\\A[a-z]+\\z', ['ab'], ['aB', 'ab\n', 'A\\z']],
    ['\\A[\\-\\:]\\Z', [':'], ['A:Z']],
    ['(?i)^abc$', ['ABC', 'abc'], ['abcd']],
    ['^(?is)a.c$', ['A\nC'], ['ac']],
    ['^(?P<first>a)b$', ['ab'], ['P<first>ab']],
    ['^\\\\A$', ['\\A'], ['']],
    ['^[[:alpha:]_]+$', ['aZ_'], ['é', '1', ':']],
    ['^[^[:space:][:cntrl:]]$', ['a'], [' ', '\0', '\x7f']],
    ['^[[:punct:]]{2}$', ['[-', '/~'], ['a-']],
    ['^[[:xdigit:]]+[[:alnum:]][[:upper:]][[:lower:]]$', ['fF09Aa'], ['gAa']],
    ['^[[:word:]][[:print:]][[:graph:]][[:blank:]][[:digit:]]$', ['_ !\t1'], ['_  \t1']],
    ['^[\\pL\\pN-]+$', ['é1-'], ['!']],
    ['^\\pLu$', ['Ou'], ['Lu ', 'u']],
    ['^\\PL$', ['1'], ['a']],
    ['^\\p{IsLetter}[\\p{IsLu}\\p{IsDigit}]$', ['aA', 'a1'], ['aa']],
    ['^\\P{IsLatin}$', ['я'], ['a']],
    ['^\\\\p{IsLetter}$', [], ['a']],
  ]
  for (const [pattern, valid, invalid] of cases) {
    for (const text of valid) t.equal(matchesPattern(pattern, text), true, `${pattern} ${text}`)
    for (const text of invalid) t.equal(matchesPattern(pattern, text), false, `${pattern} ${text}`)
    t.equal(matchesPattern(pattern, textOfPattern(pattern) as string), true)
  }
  t.equal(growthOf('\\A(a+)+\\z'), 'steep', 'its time is bounded all the same')
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
  t.equal(text({ pattern: '^(?=x)\\w+$', minLength: 2 }), 'xa')
  t.equal(text({ pattern: 'b|^$' }), 'b')
  t.equal(text({ minLength: 3 }), 'text')
  t.equal(text({ maxLength: 3 }), 'tex')
})

/** Returns a document with an operation whose body and query parameter have a schema. */
const documentOf = (schema: object): Document =>
  ({
    openapi: '3.1.0',
    info: { title: 'a', version: '1.0.0' },
    paths: {
      '/a': {
        post: {
          operationId: 'a',
          parameters: [{ name: 'q', in: 'query', schema: { type: 'string', ...('pattern' in schema && schema) } }],
          requestBody: { content: { 'application/json': { schema } } },
          responses: { 204: { description: '' } },
        },
      },
    },
  }) as unknown as Document

async function bodySchema(schema: object): Promise<Schema> {
  const { contract } = await compileDocument(documentOf(schema), 'a.yaml')
  return contract.routes.operations[0]?.schema.body?.content['application/json']?.schema as Schema
}

const withLookarounds = [
  '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$',
  '^(?![0-9a-f]{8}-[0-9a-f]{4}$)^[a-z]([a-z0-9-]*[a-z0-9]+)?$',
  '^([a-z0-9]+[a-z0-9-]*(?<!-))(\\.[a-z0-9]+[a-z0-9-]*(?<!-))*$',
  '^(?![:-]$)(?!.*(--|::))([a-z]+[\\s]*[a-z\\-:_ ]*)?$',
  '^(?=.*[a-z])(?=.*\\d)(?!.*\\s).{3,}$',
  '^(?:(?!--)[a-z-])*$',
  '^(?!\\s)(.*)(\\S)$',
  '^(?=a)(?!b)a(?!-)[ab-]*$|^(?!a|b)(?=(?!-)[^+]+$)',
  '(?!a*$)^[ab]*$',
  '(?<=a(?!.*b.*b))c*c*(?=$|-)',
]
const steep = ['^(\\w+\\s?)*$', '^(a|a)*$', '(a+)+$', '^([a-z]+-?)+$', '^\\s*\\s*\\s*$']
const quadratic = ['\\s*$', '^(.*)x(.*)y$', '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$', 'a\\w+b', '^a+|b+$', '^\\s*\\s*$']
const linear = ['^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}$', '^(?:[a-z]+-)*[a-z]+$']

t.test('the growth of the time of a pattern is known', async (t) => {
  for (const pattern of steep) t.equal(growthOf(pattern), 'steep', pattern)
  for (const pattern of quadratic) t.equal(growthOf(pattern), 'quadratic', pattern)
  for (const pattern of linear) t.equal(growthOf(pattern), 'linear', pattern)
})

t.test('a pattern that takes more than linear time is rejected, unless it is matched by an automaton', async (t) => {
  const remedy = 'which would block the service; rewrite it so that no two repetitions can match the same characters'
  for (const [pattern, time] of [
    ['^(a|a)*b{601}$', 'takes more than quadratic'],
    ['(b)ba*a*\\1$', 'could take more than quadratic'],
  ] as const) {
    const message = `${pattern} ${time} time, ${remedy}`
    const problem = async (schema: object) =>
      (await compileDocument(documentOf(schema), 'a.yaml').catch(String)) as string
    const found = await problem({ type: 'string', pattern, maxLength: 5 })
    t.ok(found.includes(`/requestBody/content/application~1json/schema/pattern: ${message}`), found)
    t.ok(found.includes(`/parameters/0/schema/pattern: ${message}`), found)
  }
  for (const pattern of steep) {
    const message = `${pattern} takes more than quadratic time, ${remedy}`
    const schema = { type: 'object', patternProperties: { [pattern]: {} } }
    t.ok(String(await compileDocument(documentOf(schema), 'a.yaml').catch(String)).includes(message))
  }
})

t.test('a pattern that may take more than linear time is matched by an automaton', async (t) => {
  for (const pattern of [...steep, ...quadratic, ...linear, ...withLookarounds, '^a*b*c*d*$'])
    t.same(await bodySchema({ type: 'string', pattern }), { type: 'string', 'x-linear-pattern': pattern })
  for (const pattern of surelyLinear) t.same(await bodySchema({ type: 'string', pattern }), { type: 'string', pattern })
})

t.test('a string that an automaton does not match is rejected as by a pattern', async (t) => {
  const pattern = '^(\\w+\\s?)*$'
  const app = await serveDocument(documentOf({ type: 'string', pattern }), {
    handlers: { a: async () => ({ status: 204, body: undefined }) },
  })
  const post = (payload: string) =>
    app.inject({ method: 'POST', url: '/a', payload, headers: { 'content-type': 'application/json' } })
  t.equal((await post('"a b"')).statusCode, 204)
  const { statusCode, body } = await post(`"${'a'.repeat(50)}!"`)
  t.equal(statusCode, 400)
  t.match(body, `body must match pattern \\"${pattern.replaceAll('\\', '\\\\')}\\"`)
})

t.test('an automaton matches the texts that the regular expression matches', (t) => {
  const patterns = [
    '^(\\w+\\s?)*$',
    'a|b+c|^$',
    '(?:x|(?<n>yz)){2,3}?$',
    '^a{2}b{1,}c{0,2}d?e*?$',
    '\\bab\\B.',
    '^[^a-c\\]]+\\u{1F600}?\\.$',
    '[\\-\\:]{x}',
    '^a{2}b+c{0,2}d?e*?$',
    '(?i)^É\\x41\\u0042$',
    '^.\\p{Lu}$',
    '^\\uD83D\\uDE00|\\cJ$',
    '^\\-\\01+$',
    '(a?)*$b|$',
    '(?:){99999999}b',
    'arn:aws(-[\\w]+)*:.+:.+:[0-9]{3}:.+',
  ]
  const texts = [
    '',
    'a',
    'ab',
    'abc',
    'bc',
    'x yz',
    'yz yz',
    'aab',
    'aab de',
    'ab\u{1F600}',
    ' ab!',
    'dd.',
    '-\u0001\u0001',
    'x\u{1F600}.',
    '-{x}',
    ':{x',
    'ÉAB',
    'éab',
    '\u{1F600}É',
    'aÉ',
    '\u{1F600}',
    '\ud83d',
    '\n',
    'a b  c',
    'arn:aws-cn:a:b:123:c',
    'arn:aws:a:b:12:c',
    'é'.repeat(3),
  ]
  for (const pattern of patterns) {
    const matches = linearPattern(pattern) as (text: string) => boolean
    const expression = compilePattern(pattern)
    for (const text of [...texts, ...texts]) t.equal(matches(text), expression.test(text), `${pattern} ${text}`)
  }
  for (const pattern of [
    '(a)\\1',
    '(?=(a))\\1',
    '(?<n>a)\\k<n>',
    '\\-\\ud83d\\ude00',
    '\\-\u{1F600}',
    '(',
    'a{601}',
    '(?=a{301})a{301}',
    '(a{1,25}){1,30}',
    '(a?b?){50}',
    '(?=a(?=b)(?=c))(?=d)(?=e)(?=f)(?=g)(?=h)(?=i)(?=j)(?=k)',
  ])
    t.equal(linearPattern(pattern), undefined, pattern)
  t.end()
})

const atoms = ['a', 'b', '.', '\\w', '\\s', '\\W', '[^a]', '[^]', '[]', '\u{1F600}', '\\-', '\\p{L}']
const assertions = ['\\b', '\\B', '^', '^', '$']
const quantifiers = ['', '', '', '*', '+', '?', '*?', '{2}', '{0,3}', '{2,}', '{0}', '{1,}?']
const { alternatives } = fc.letrec<Record<'alternatives' | 'sequence' | 'atom', string>>((tie) => ({
  alternatives: fc.array(tie('sequence'), { minLength: 1, maxLength: 2 }).map((all) => all.join('|')),
  sequence: fc
    .array(
      fc.oneof(
        { weight: 3, arbitrary: fc.tuple(tie('atom'), fc.constantFrom(...quantifiers)).map((both) => both.join('')) },
        fc.constantFrom(...assertions),
        fc
          .tuple(fc.constantFrom('=', '!', '<=', '<!'), tie('alternatives'))
          .map(([kind, inner]) => `(?${kind}${inner})`),
      ),
      { maxLength: 4 },
    )
    .map((all) => all.join('')),
  atom: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(...atoms),
    tie('alternatives').map((inner) => `(${inner})`),
  ),
}))
const units = fc.array(fc.constantFrom('a', 'b', ' ', '\n', 'é', '-', '\u{1F600}', '\ud83d', '\ude00'), {
  maxLength: 8,
})
const short = units.map((all) => all.join(''))

/**
 * Returns whether a pattern matches at some position of a text. Without the flag y, V8 also tries the positions between
 * the halves of a surrogate pair, which ECMA-262 reads as one character.
 */
function matchesSomewhere(pattern: string, text: string): boolean {
  const { source, flags, unicode } = compilePattern(pattern)
  const expression = new RegExp(source, `${flags}y`)
  for (let position = 0; position <= text.length; position++) {
    if (unicode && position > 0 && (text.codePointAt(position - 1) as number) > 0xffff) continue
    expression.lastIndex = position
    if (expression.test(text)) return true
  }
  return false
}

t.test('an automaton agrees with the regular expression', (t) => {
  let [compared, around] = [0, 0]
  const agrees = fc.property(alternatives, fc.array(short, { minLength: 10, maxLength: 10 }), (pattern, texts) => {
    const matches = linearPattern(pattern)
    if (matches === undefined) return
    for (const text of texts) {
      compared++
      if (/\(\?<?[=!]/.test(pattern)) around++
      if (matches(text) !== matchesSomewhere(pattern, text)) throw new Error(JSON.stringify([pattern, text]))
    }
  })
  fc.assert(agrees, { ...fixedSeed, numRuns: Number(process.env.PROPERTY_RUNS ?? 2_000) })
  t.ok(compared > 4_000 && around > 1_000, `${compared} texts, ${around} with lookarounds`)
  t.end()
})

t.test('an automaton with lookarounds agrees with the regular expression on texts of its own characters', (t) => {
  for (const pattern of withLookarounds) {
    const matches = linearPattern(pattern) as (text: string) => boolean
    const expression = compilePattern(pattern)
    const found = { true: 0, false: 0 }
    const characters = fc.constantFrom(...new Set(`${pattern.replaceAll(/\\.|\W/g, '')}a0-+.:_ \n`))
    const agrees = fc.property(fc.array(characters, { maxLength: 14 }), (all) => {
      const isMatch = expression.test(all.join(''))
      found[`${isMatch}`]++
      if (matches(all.join('')) !== isMatch) throw new Error(JSON.stringify([pattern, all]))
    })
    fc.assert(agrees, { ...fixedSeed, numRuns: 2_000 })
    t.ok(found.true > 20 && found.false > 20, `${pattern} ${JSON.stringify(found)}`)
  }
  t.end()
})

t.test('the time of an automaton is linear, whatever the text', async (t) => {
  for (const pattern of [
    '^(a|a)*$',
    'arn:aws.*:kinesis:.*:\\d{12}:stream/\\S+',
    '(a|b)*a(a|b){12}c',
    '\\bé*\\b$',
    '^(?:(?=.*c)[ab]|(?<!b.*)é)*$',
  ]) {
    const matches = linearPattern(pattern) as (text: string) => boolean
    const { user } = process.cpuUsage()
    let random = 1
    const letters = Array.from({ length: 100_000 }, () => {
      random = (random * 48_271) % 2_147_483_647
      return random % 2 === 0 ? 'a' : 'b'
    })
    for (const text of ['a', 'é', ':kinesis:'].map((one) => `${one.repeat(100_000 / one.length)}!`))
      t.notOk(matches(text))
    matches(letters.join(''))
    const milliseconds = (process.cpuUsage().user - user) / 1_000
    t.ok(milliseconds < 2_000, `${pattern}: ${milliseconds} ms`)
  }
})

t.test('the names that a quadratic pattern checks are bounded, with a warning', async (t) => {
  const schema = { type: 'object', patternProperties: { '\\s*$': {} } }
  t.same(await bodySchema(schema), { ...schema, allOf: [{ propertyNames: { maxLength: 800 } }] })
  t.match(checkDocument(documentOf(schema)).warnings, [
    /patternProperties: .* takes quadratic time; the names may have at most/,
  ])
  const validate = createValidator({}).request(await bodySchema(schema), 'body')
  const { user } = process.cpuUsage()
  t.ok('error' in validate({ value: { [`${' '.repeat(262_000)}x`]: 1 }, length: 262_000 }))
  t.ok(process.cpuUsage().user - user < 1_000_000)
})

t.test('the growth of the time of a pattern does not depend on the clock', async (t) => {
  let time = Date.now()
  const later = () => {
    time += 10_000
    return time
  }
  t.intercept(Date, 'now', { value: later })
  t.intercept(performance, 'now', { value: later })
  t.intercept(process, 'hrtime', { value: () => [later() / 1_000, 0] })
  t.equal(growthOf('^(?:[c-z]+-)*[c-z]+$'), 'linear')
  t.equal(growthOf('^(b|b)*$'), 'steep')
  t.equal(growthOf('^(c|c){25}$'), 'steep')
})

t.test('a finite number of choices that multiply is steep', async (t) => {
  for (const pattern of [
    '^((a{1,4}){1,4}){1,4}$',
    '^(a|a){29}$',
    `^${'a?'.repeat(28)}${'a'.repeat(28)}$`,
    `^${'(a|\\w)'.repeat(28)}-$`,
  ])
    t.equal(growthOf(pattern), 'steep', pattern)
})

t.test('a pattern whose growth is not proven is refused', async (t) => {
  const patterns = ['^(.*)\\1$', `^(?:${'ab|'.repeat(200)}c)+$`]
  for (const pattern of patterns) {
    t.equal(growthOf(pattern), 'unknown')
    const message = `${pattern} could take more than quadratic time, which would block the service; rewrite it`
    for (const schema of [{ pattern, maxLength: 5 }, { patternProperties: { [pattern]: {} } }]) {
      const found = (await compileDocument(documentOf(schema), 'a.yaml').catch(String)) as string
      t.ok(found.includes(message), found.slice(0, 500))
    }
  }
})

t.test('a slow pattern does not hold the event loop for a body of 256 KiB', async (t) => {
  const schema = await bodySchema({ type: 'array', items: { type: 'string', pattern: '\\s*$' } })
  const validate = createValidator({}).request(schema, 'body')
  const whole = [`${' '.repeat(262_000)}x`]
  // Each text matches, so that all are checked.
  const parts = Array.from({ length: 325 }, () => `${' '.repeat(799)}x`)
  validate({ value: [], length: 0 })
  for (const [name, value] of Object.entries({ whole, parts })) {
    const { user } = process.cpuUsage()
    const result = validate({ value, length: 262_000 })
    const milliseconds = (process.cpuUsage().user - user) / 1_000
    t.notOk('error' in result)
    t.comment(`${name}: ${Math.round(milliseconds)} ms`)
    t.ok(milliseconds < 1_000, `${name}: ${milliseconds} ms`)
  }
})
