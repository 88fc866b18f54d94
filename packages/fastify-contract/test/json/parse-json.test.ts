import fc from 'fast-check'
import t from 'tap'
import { type Digits, exactInteger, inexactNumber } from '../../src/json/json-document.ts'
import { inexactNumbers, parseJson } from '../../src/json/parse-json.ts'

/** Texts in the categories of public JSON parsing suites: to accept, to reject, and implementation-defined. */
const accepted: string[] = [
  '{}',
  '[]',
  '[[]   ]',
  '[""]',
  ' [1] ',
  '\t\n\r [1]\n',
  '"a"',
  '1',
  'null',
  'true',
  'false',
  '[true,false,null]',
  '{"a":{"b":[{"c":1}]}}',
  '{"":0}',
  '{"a\\u0020b":1}',
  '["\\"\\\\\\/\\b\\f\\n\\r\\t"]',
  '["\\u00e9\\u00E9"]',
  '["\\ud834\\udd1e"]',
  '["\u{1d11e}\u2028\u2029\ufeff"]',
  '["\u007f"]',
  '["a/b // c"]',
  '[0,-0,1,-1,123456789012345]',
  '[0.5,-0.5,1.25e2,1E2,1e+2,1e-2,0e1,0E+1]',
  '[1e308,-1e308,5e-324,1e-400]',
  `"${'x'.repeat(200_000)}"`,
  `${'['.repeat(128)}${']'.repeat(128)}`,
]

const refused: string[] = [
  '',
  ' ',
  '{',
  '}',
  '[',
  ']',
  '[1',
  '[1,',
  '[1,]',
  '[,1]',
  '[1 2]',
  '[1,,2]',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{,}',
  '{"a" 1}',
  '{"a"::1}',
  '{a:1}',
  "{'a':1}",
  '{1:1}',
  '{"a":1 "b":2}',
  '1 1',
  '[] []',
  '{}}',
  '"a',
  '"a\\',
  '"\\x"',
  '"\\u12"',
  '"\\u12g4"',
  '"\\U0041"',
  '"a\nb"',
  '"a\tb"',
  '"a\u0000b"',
  '"a\u001fb"',
  'tru',
  'True',
  'nul',
  'nullx',
  'NaN',
  'Infinity',
  '-Infinity',
  'undefined',
  '01',
  '-01',
  '00',
  '+1',
  '.5',
  '1.',
  '1.e1',
  '-',
  '--1',
  '1e',
  '1e+',
  '1ee1',
  '0x1',
  '1_000',
  '１',
  '// c\n1',
  '1 /* c */',
  '#1',
  '\u00a01',
  '\u20281',
  '\ufeff1',
  '\f1',
  '`a`',
]

/** Texts that the JSON grammar permits and this contract rejects. */
const defined: [string, RegExp][] = [
  ['{"a":1,"a":1}', /same name twice/],
  ['{"a":1,"\\u0061":2}', /same name twice/],
  ['{"__proto__":1,"__proto__":2}', /same name twice/],
  ['"\\u0000"', /NUL/],
  ['{"a\\u0000":1}', /NUL/],
  ['"\\ud800"', /lone surrogate/],
  ['"\ud800"', /lone surrogate/],
  ['"\\udc00\\ud800"', /lone surrogate/],
  ['"\\ud800x\\udc00"', /lone surrogate/],
  [`${'['.repeat(129)}${']'.repeat(129)}`, /nesting deeper than 128 levels/],
  ['['.repeat(200_000), /nesting deeper than 128 levels/],
  ['{"a":'.repeat(200_000), /nesting deeper than 128 levels/],
]

/** Returns a text as the name of an assertion, which must be one line. */
const shown = (text: string) => JSON.stringify(text.slice(0, 60)).replace(/[^ -~]/g, '?')

t.test('valid JSON is parsed', async (t) => {
  for (const text of accepted) t.same(parseJson(text).value, JSON.parse(text), shown(text))
})

t.test('invalid JSON is rejected', async (t) => {
  for (const text of refused) {
    t.throws(() => parseJson(text), { name: 'JsonError', message: /^\S.* at character \d+$/ }, shown(text))
  }
})

t.test('duplicate names, NUL and lone surrogates are rejected', async (t) => {
  for (const [text, message] of defined) t.throws(() => parseJson(text), { name: 'JsonError', message }, shown(text))
})

t.test('inherited property names are ordinary members', async (t) => {
  const { value } = parseJson('{"__proto__":{"a":1},"constructor":2,"toString":3,"hasOwnProperty":4}')
  t.same(Object.keys(value as object), ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
  t.equal(Object.getPrototypeOf(value), Object.prototype)
  t.equal(({} as { a?: number }).a, undefined)
})

t.test('the text of a number is kept where a double may have lost digits', async (t) => {
  const document = parseJson('{"a":9007199254740993,"b":[1,1e1000000000,9007199254740993.5],"c":1.50,"d":12}')
  const { value } = document
  const { b } = value as { b: unknown[] }
  t.equal(inexactNumber(document, value as object, 'a'), '9007199254740993')
  t.equal(inexactNumber(document, b, 2), '9007199254740993.5')
  for (const [holder, key] of [
    [value as object, 'b'],
    [value as object, 'c'],
    [value as object, 'd'],
    [b, 0],
    [b, 1],
  ] as const) {
    t.equal(inexactNumber(document, holder, key), undefined)
  }
  const root = parseJson('9007199254740993')
  t.equal(inexactNumber(root, root, 'value'), '9007199254740993')
})

t.test('the quick check of a text never misses what the full check finds', async (t) => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    '"',
    '":',
    '" :',
    ',',
    ':',
    'a',
    '"a":',
    '"b":1',
    '1',
    '.',
    '0',
    '00000001',
    'e5',
    'E-',
    '-',
  ]
  const special = [
    '9007199254740993',
    '1.0000000000000000001',
    '12.34567890123456',
    '1e400',
    '1e23',
    '1e22',
    '9.007199254740993e15',
    '900719925474099.3e1',
    '0.30000000000000001e1',
    '123456789012345e1',
    '0.00001e5',
    '1e-400',
    '"\\u0000"',
    '"\\ud800"',
    '\\',
    '\n',
  ]
  const texts = fc.array(fc.constantFrom(...pieces, ...special), { maxLength: 20 }).map((some) => some.join(''))
  const values = fc.json({ maxDepth: 4 }).chain((text) =>
    fc.tuple(fc.nat(text.length), fc.constantFrom('', ...pieces, ...special)).map(([at, piece]) => {
      return text.slice(0, at) + piece + text.slice(at)
    }),
  )
  // The full check also finds some exact numbers, such as 123456789012345e1.
  const isInexact = (text: Digits) => !Number.isFinite(Number(text)) || exactInteger(text) !== BigInt(Number(text))
  const outcome = (run: () => unknown) => {
    try {
      return run()
    } catch (error) {
      return `${error}`
    }
  }
  fc.assert(
    fc.property(fc.oneof(texts, values), (text) => {
      const full = outcome(() =>
        inexactNumbers(text)
          .map(({ text }) => text)
          .filter(isInexact)
          .sort(),
      )
      const parsed = outcome(() =>
        [...(parseJson(text).digits?.values() ?? [])]
          .flatMap((kept) => [...kept.values()])
          .filter(isInexact)
          .sort(),
      )
      return String(full) === String(parsed)
    }),
    { numRuns: Number(process.env.PROPERTY_RUNS ?? 20_000) },
  )
  t.pass()
})
