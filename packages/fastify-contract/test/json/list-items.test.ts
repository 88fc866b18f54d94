import t from 'tap'
import { exactly } from '../../../../test/support/exact-pattern.ts'
import { listItems } from '../../src/json/list-items.ts'

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
  for (const list of [[], ...items.map((item) => [item]), items]) {
    for (const indent of [0, 2, '\t\r\n']) {
      t.strictSame(read(` ${JSON.stringify({ list }, null, indent)}\n`), { items: list, returned: true })
    }
  }
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
  ]) {
    t.equal(read(text).returned, false, text)
  }
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
  for (const [text, message] of texts) {
    t.throws(() => read(text), { name: /^JsonError$/, message: exactly(message) }, text)
  }
})
