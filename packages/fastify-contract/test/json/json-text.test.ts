import { exactly } from 'fastify-contract-test-support/exact-pattern'
import t from 'tap'
import { decodeJson } from '../../src/json/decode-json.ts'
import { parseExactJson } from '../../src/json/exact-json.ts'
import { exactInteger, exactNumberOf, withDoubles } from '../../src/json/json-document.ts'
import { listItems } from '../../src/json/list-items.ts'
import { parseJson } from '../../src/json/parse-json.ts'
import { stringifyJson } from '../../src/json/write-json.ts'

t.test('UTF-8 is decoded without its byte order mark', async (t) => {
  t.equal(decodeJson(Buffer.from('"ä\ufffd"')), '"ä\ufffd"')
  t.equal(decodeJson(Buffer.from('\ufeff"a"')), '"a"')
})

t.test('bytes that are not UTF-8 are rejected', async (t) => {
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80]])
    t.throws(() => decodeJson(Buffer.from(bytes)), { name: 'JsonError', message: /^it is not UTF-8$/ })
})

t.test('a bigint is written as its digits', async (t) => {
  const value = { id: 2n ** 63n - 1n, list: [-(2n ** 63n), { '"id"': 0n }] }
  t.equal(stringifyJson(value), '{"id":9223372036854775807,"list":[-9223372036854775808,{"\\"id\\"":0}]}')
  t.equal(stringifyJson(2n ** 64n), '18446744073709551616')
})

t.test('a number is no name of a member', async (t) => {
  for (const text of ['{9007199254740993:1}', '[{ "a": { 12345678901234567890: 9007199254740993 } }]'])
    t.throws(() => parseExactJson(text), { name: 'SyntaxError' }, text)
  t.same(parseExactJson('{ "9007199254740993": 9007199254740993 }'), { '9007199254740993': 9007199254740993n })
})

t.test('an integer in a string stays a text', async (t) => {
  const strings = ['\\', ': 9007199254740993', '\\" 1e20', ', 9007199254740993"']
  const text = `[${strings.map((one) => JSON.stringify(one)).join()},9007199254740993,{"a\\"":1e20}]`
  const found = [...strings, 9007199254740993n, { 'a"': 100000000000000000000n }]
  t.same(parseExactJson(text), found)
})

function returnThis(this: unknown) {
  return this
}

t.test('a bigint is written beside a member named toJSON, and in what a method of that name returns', async (t) => {
  t.equal(stringifyJson({ toJSON: 'a', id: 1n }), '{"toJSON":"a","id":1}')
  t.equal(stringifyJson([{ toJSON: () => ({ id: 2n ** 63n }) }]), '[{"id":9223372036854775808}]')
  t.equal(stringifyJson(Object.assign(Object.create({ toJSON: returnThis }), { id: 3n })), '{"id":3}')
})

t.test('everything else is written as JSON.stringify writes it', async (t) => {
  const values: unknown[] = [
    ...[null, true, 1.5, -0, Number.NaN, 'a"\u2028\ud800', undefined, () => {}, Symbol('a')],
    ...[[], {}, [undefined, () => {}, null], { a: undefined, b: [{ c: [] }] }],
    ...[new Date(0), { at: new Date(0) }, JSON.parse('{"__proto__":{"a":1}}')],
  ]
  for (const value of values) t.equal(stringifyJson(value), JSON.stringify(value))
})

t.test('bigints become doubles, and inherited members are left out', async (t) => {
  const shared = { c: [true] }
  const { value } = withDoubles({ a: 1n, b: [2n, null], shared })
  t.same(value, { a: 1, b: [2, null], shared })
  t.equal((value as { shared: object }).shared, shared)
  const instance = Object.assign(Object.create({ a: 1n }), { b: 2n })
  t.strictSame(withDoubles({ instance }).value, { instance: { b: 2 } })
})

t.test('every notation of an integer gives its exact value', async (t) => {
  const cases: [string, bigint][] = [
    ['0', 0n],
    ['-0', 0n],
    ['-0.000', 0n],
    ['0e999999999999', 0n],
    ['1', 1n],
    ['1.0', 1n],
    ['1e3', 1000n],
    ['1E+3', 1000n],
    ['1000e-3', 1n],
    ['12.5e1', 125n],
    ['0.00001e5', 1n],
    ['100.00', 100n],
    ['9007199254740993', 9007199254740993n],
    ['9.007199254740993e15', 9007199254740993n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    ['922337203685477580700e-2', 2n ** 63n - 1n],
    ['18446744073709551615', 2n ** 64n - 1n],
    [`1${'0'.repeat(100_000)}e-100000`, 1n],
    [`0.${'0'.repeat(100_000)}1e100001`, 1n],
  ]
  for (const [text, integer] of cases) t.equal(exactInteger(text), integer, text.slice(0, 40))
})

t.test('anything but an integer of at most 20 digits is undefined', async (t) => {
  const texts = ['12.5', '1e-1', '1.00000000000000000001', '9007199254740993.5', '1e1000000000', '1e-1000000000']
  const notNumbers = [
    '',
    ' 1',
    '1 ',
    '+1',
    '01',
    '0x10',
    '1n',
    'NaN',
    'Infinity',
    '1e',
    '.5',
    '5.',
    '--1',
    '123456789012345678901',
  ]
  for (const text of [...texts, ...notNumbers]) t.equal(exactInteger(text), undefined, text)
})

/** Reads all items and the return value of the iterator. */
function read(text: string): { items: unknown[]; returned: boolean } {
  const list = listItems(text, 'list')
  const items: unknown[] = []
  for (;;) {
    const { done, value } = list.next()
    if (done) return { items, returned: value }
    items.push(value)
  }
}

t.test('the items of a list equal those of JSON.parse', async (t) => {
  const items = [
    { a: ['}', ']', ',', '"', '\\', '\\"', '[{'] },
    [],
    {},
    [[1, 2], { b: [3] }],
    'text',
    '',
    1,
    -0.5,
    null,
    true,
  ]
  for (const list of [[], ...items.map((item) => [item]), items])
    for (const indent of [0, 2, '\t\r\n'])
      t.strictSame(read(` ${JSON.stringify({ list }, null, indent)}\n`), { items: list, returned: true })
})

t.test('items are parsed lazily', async (t) => {
  const list = listItems('{"list":[1,2,x]}', 'list')
  t.strictSame(
    [list.next(), list.next()],
    [
      { done: false, value: 1 },
      { done: false, value: 2 },
    ],
  )
  t.throws(() => list.next(), /^unexpected character at character 13$/)
})

t.test('text that is not a JSON list is rejected', async (t) => {
  for (const text of [
    'null',
    '[]',
    '{}',
    '{"list":{}}',
    '{"other":[]}',
    '{"list":[1],"other":1}',
    '{"other":1,"list":[]}',
  ])
    t.equal(read(text).returned, false, text)
})

t.test('invalid JSON is rejected with its position', async (t) => {
  const texts: [string, string][] = [
    ['', 'unexpected end at character 0'],
    ['{"list":[', 'unexpected end at character 9'],
    ['{"list":[1', 'unexpected end at character 10'],
    ['{"list":[{"a":"', 'unexpected end at character 15'],
    ['{"list":["\\', 'unexpected end at character 11'],
    ['{"list":[1]', 'unexpected end at character 11'],
    ['{"list":[1}', 'unexpected character at character 10'],
    ['{"list":[1]}x', 'unexpected character at character 12'],
    ['{"list":[,1]}', 'unexpected character at character 9'],
    ['{"list":[1,]}', 'unexpected character at character 11'],
    ['{"list":[1,,2]}', 'unexpected character at character 11'],
    ['{"list":[1 2]}', 'unexpected character at character 11'],
    ['{"list":[{"a":1,"a":2}]}', 'the same name twice in one object at character 19'],
    ['{"list":[],"list":[]}', 'the same name twice in one object at character 17'],
    ['{"list":[\u00a0]}', 'unexpected character at character 9'],
    ['\u00a0{"list":[]}', 'unexpected character at character 0'],
  ]
  for (const [text, message] of texts)
    t.throws(() => read(text), { name: /^JsonError$/, message: exactly(message) }, text)
})

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
  for (const text of refused)
    t.throws(() => parseJson(text), { name: 'JsonError', message: /^\S.* at character \d+$/ }, shown(text))
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
  t.equal(exactNumberOf(document, value as object, 'a'), '9007199254740993')
  t.equal(exactNumberOf(document, b, 1), '1e1000000000')
  t.equal(exactNumberOf(document, b, 2), '9007199254740993.5')
  for (const [holder, key] of [
    [value as object, 'b'],
    [value as object, 'c'],
    [value as object, 'd'],
    [b, 0],
  ] as const)
    t.equal(exactNumberOf(document, holder, key), undefined)
  const root = parseJson('9007199254740993')
  t.equal(exactNumberOf(root, root, 'value'), '9007199254740993')
})
