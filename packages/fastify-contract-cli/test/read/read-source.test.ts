import t from 'tap'
import { parseSource } from '../../src/read/read-source.ts'
import { readYaml } from '../../src/read/yaml-values.ts'

const read = (text: string) => parseSource('/api.yaml', text, 'api.yaml')

/** Returns a text with a directive: it means the same, and the other parser reads it. */
const directed = (text: string) => `%YAML 1.2\n---\n${text}`

/** Returns whether the fast parser reads a text. */
const isFast = (text: string) => readYaml(text, 'api.yaml') !== undefined

/** Values that the parsers of YAML could read in different ways. */
const scalars = [
  ...['7', '+7', '-7', '007', '0o17', '0x1F', '1_000', '1.', '.5', '1e3', '1.50', '12:30', '2026-11-27', '-0'],
  ...['9007199254740993', '-9223372036854775808', '+0009007199254740993', '0xFFFFFFFFFFFFFFFF', '1e400'],
  ...['9.007199254740993e15', '12345678901234567890.5', '.inf', '-.INF', '.nan', '.Nan', '~', 'null', 'NULL', 'nULL'],
  ...['true', 'True', 'tRUE', 'yes', 'no', 'on', '"1"', "'it''s'", '"\\u00e9\\n"', 'a b', 'a#b', 'a # b', 'a: b'],
  ...['', '|\n  one\n   two\n', '>-\n  one\n  two\n\n  three', 'one\n  two\n\n  three', '[1, "2", {a: b}]', '{}', '[]'],
]

t.test('both parsers read a YAML value in the same way, or reject it', async (t) => {
  for (const scalar of scalars) {
    for (const text of [`value: ${scalar}\n`, `- ${scalar}\n`]) {
      const outcome = (given: string) => {
        try {
          return read(given).value
        } catch (error) {
          return String(error).replace(/\d+:\d+/, 'PLACE')
        }
      }
      t.strictSame(outcome(text), outcome(directed(text)), JSON.stringify(text))
    }
  }
})

t.test('both parsers name members after keys that are no texts in the same way', async (t) => {
  for (const key of [
    '200',
    '1.0',
    '0x10',
    '~',
    'null',
    '',
    'true',
    'True',
    '"a"',
    '9007199254740993',
    '__proto__',
    '? a\n',
  ]) {
    const text = `${key}: 1\n`
    t.strictSame(Object.entries(read(text).value as object), Object.entries(read(directed(text)).value as object), key)
    const [name = ''] = Object.keys(read(text).value as object)
    t.same(read(text).placeOf([name], true), { line: 1, col: key.startsWith('?') ? 3 : 1 }, key)
  }
})

const yaml = `openapi: 3.1.0
info:
  title: "A"
  empty:
  list:
    - one
    - name: 'x'
      text: |
        block
    - >
      folded
    -
  flow: { a: [1, two], 'b': }
200: last
blank:  # Nothing.
`

const keysTo: [keys: string[], place: string, onKey: string, text?: string][] = [
  [[], '1:1', '1:1'],
  [['openapi'], '1:10', '1:1', '3.1.0'],
  [['info'], '3:3', '2:1'],
  [['info', 'title'], '3:10', '3:3', 'A'],
  [['info', 'empty'], '4:9', '4:3', ''],
  [['info', 'list'], '6:5', '5:3'],
  [['info', 'list', '0'], '6:7', '6:7', 'one'],
  [['info', 'list', '1', 'name'], '7:13', '7:7', 'x'],
  [['info', 'list', '1', 'text'], '8:13', '8:7', 'block\n'],
  [['info', 'list', '2'], '10:7', '10:7', 'folded\n'],
  [['info', 'list', '4'], '6:5', '5:3'],
  [['info', 'list', 'x'], '6:5', '5:3'],
  [['info', 'flow', 'a', '1'], '13:18', '13:18', 'two'],
  [['info', 'flow', 'b'], '13:29', '13:24', ''],
  [['200'], '14:6', '14:1', 'last'],
  [['blank'], '15:9', '15:1', ''],
  [['missing', 'below'], '1:1', '1:1'],
]

t.test('each value of YAML has a place and a text, whichever parser reads it', async (t) => {
  for (const [text, added] of [
    [yaml, 0],
    [directed(yaml), 2],
  ] as const) {
    const { placeOf, textAt } = read(text)
    for (const [keys, place, onKey, scalar] of keysTo) {
      const shown = (onKey: boolean) => {
        const { line, col } = placeOf(keys, onKey)
        return `${line === 1 && keys.length === 0 ? 1 : line - added}:${col}`
      }
      t.equal(shown(false), place, keys.join('/'))
      if (keys.length > 0 && keys[0] !== 'missing') t.equal(shown(true), onKey, `key of ${keys.join('/')}`)
      t.equal(textAt(keys), scalar, `text of ${keys.join('/')}`)
    }
  }
})

t.test('an item that the text leaves out has the place of its list', async (t) => {
  const { placeOf, textAt } = read(yaml)
  t.same(placeOf(['info', 'list', '3']), { line: 6, col: 5 })
  t.same(placeOf(['info', 'list', '3', 'below'], true), { line: 5, col: 3 })
  t.equal(textAt(['info', 'list', '3']), '')
})

t.test('each value of JSON has a place', async (t) => {
  const { placeOf, textAt } = read('\uFEFF{\n\t"a/b": [1, {"c": "d\\u00e9"}],\r\n\t"e": null }')
  t.same(placeOf(['a/b', '1', 'c']), { line: 2, col: 19 })
  t.same(placeOf(['a/b', '1', 'c'], true), { line: 2, col: 14 })
  t.equal(textAt(['a/b', '1', 'c']), 'dé')
  t.same(placeOf(['e']), { line: 3, col: 7 })
})

t.test('values that are nested 1,000 deep are read with their places', async (t) => {
  const depth = 1000
  for (const text of [`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`, nestedYaml(depth)]) {
    const source = read(text)
    const { line, col } = source.placeOf(Array(depth).fill('a'))
    t.ok(
      text
        .split('\n')
        [line - 1]?.slice(col - 1)
        .startsWith('1'),
    )
  }
})

const nestedYaml = (depth: number): string =>
  Array.from({ length: depth }, (_, level) => `${' '.repeat(level)}a:${level === depth - 1 ? ' 1' : ''}\n`).join('')

/** Texts with anchors, aliases and merge keys, and the keys of values in them. */
const aliased: [text: string, ...keys: string[][]][] = [
  [`a: &x\n  b: 1\nc: *x\nd: [*x, &x 2, *x]\n`, ['c'], ['c', 'b'], ['d', '0', 'b'], ['d', '1'], ['d', '2']],
  [`a: &x |\n  one\nb: &y\nc: &z "q"\nd: [*x , *y , *z ]\n`, ['a'], ['b'], ['c'], ['d', '1']],
  [
    `a: &x { b: 1, c: 2 }\nd:\n  b: 3\n  <<: *x\ne: { <<: *x, c: 4, f: 5 }\n`,
    ['d', 'b'],
    ['d', 'c'],
    ['e', 'b'],
    ['e', 'c'],
  ],
  [
    `a: &x { b: 1 }\nc: &y { <<: *x, d: 2 }\ne:\n  <<: [*y , { b: 3, f: 4 }]\n  <<: { g: 5 }\n`,
    ['e', 'b'],
    ['e', 'd'],
    ['e', 'f'],
    ['e', 'g'],
    ['e', 'missing'],
  ],
  [`a: &x { 404: 1, __proto__: { b: 1 } }\nc:\n  "404": 2\n  <<: *x\n`, ['c', '404'], ['c', '__proto__', 'b']],
  [`a: { "<<": 1 }\nb: [<<]\n&k c: &x 1\nd: *x\n`, ['a', '<<'], ['b', '0'], ['c'], ['d']],
]

t.test('both parsers read anchors, aliases and merge keys in the same way, with their places', async (t) => {
  for (const [text, ...places] of aliased) {
    t.ok(isFast(text), text)
    const [fast, slow] = [read(text), read(directed(text))]
    t.equal(JSON.stringify(fast.value), JSON.stringify(slow.value), text)
    for (const keys of places) {
      for (const onKey of [false, true]) {
        const { line, col } = slow.placeOf(keys, onKey)
        t.same(fast.placeOf(keys, onKey), { line: line === 1 ? 1 : line - 2, col }, `${keys.join('/')} of ${text}`)
      }
    }
  }
})

t.test('an alias has the text of the scalar that it stands for', async (t) => {
  const { textAt } = read('a: &x 1.0\nb: *x\nc: &y\n  - *x\nd: *y\n')
  t.equal(textAt(['b']), '1.0')
  t.equal(textAt(['d', '0']), '1.0')
  t.equal(textAt(['d']), undefined)
})

t.test('no two places of a value share an object', async (t) => {
  const { a, b, c } = read('a: &x { y: [1] }\nb: *x\nc: { <<: *x }\n').value as Record<string, { y: number[] }>
  t.equal(new Set([a, b, c]).size, 3)
  t.equal(new Set([a?.y, b?.y, c?.y]).size, 3)
})

t.test('a text whose aliases or merge keys stand for too many values is rejected', async (t) => {
  const levels = Array.from({ length: 9 }, (_, level) => level)
  const list = (level: number) =>
    Array(10)
      .fill(`*l${level - 1} `)
      .join(', ')
  for (const of of [(level: number) => `[${list(level)}]`, (level: number) => `{ <<: [${list(level)}] }`]) {
    const text = levels.map((level) => `l${level}: &l${level} ${level === 0 ? '{ a: 1 }' : of(level)}\n`).join('')
    t.throws(() => read(text), /^api\.yaml: its aliases stand for more than 5000000 values; write fewer$/)
  }
})

t.test('a bracket may be indented like the member that holds the collection', async (t) => {
  const text = `a:
  b: {
    "c": [1, 2
    ],
    "d": "}"
  }
  e: |
    {
      "f": [
    ]
    }
  g: [
    one
    two # Here.
  ]
h: "i
  }"
`
  const { value, placeOf } = read(text)
  t.same(value, {
    a: { b: { c: [1, 2], d: '}' }, e: '{\n  "f": [\n]\n}\n', g: ['one two'] },
    h: 'i }',
  })
  t.same(placeOf(['a', 'b', 'd']), { line: 5, col: 10 })
  t.ok(isFast('a:\n  b: {\r\n    c: 1\r\n  }\r\n'))
  t.notOk(isFast('a: b\n}\n'))
  t.notOk(isFast('a:\n  b: [c\n\n  ]\n'), 'after an empty line')
})
