import t from 'tap'
import { formatPlantLine, plantParser, readLines } from '../../src/cli/plant-line.ts'

const parse = plantParser()
const parsed = (text: string) => parse(Buffer.from(text))

t.test('a line is parsed like a body of POST /plants', async (t) => {
  t.same(parsed('{"id":9223372036854775807,"name":"a","tag":"b"}'), { id: 2n ** 63n - 1n, name: 'a', tag: 'b' })
  t.same(parsed(' {"name":"","id":-9.007199254740993e15,"more":[1]} \r'), { id: -9_007_199_254_740_993n, name: '' })
  const refused: [string, string | RegExp][] = [
    ['{"id":1,"name":"a"', 'not JSON: unexpected end at character 18'],
    ['{"id":1,"id":1,"name":"a"}', /^not JSON: the same name twice in one object at character \d+$/],
    ['{"id":1,"name":"\\ud800"}', /^not JSON: a lone surrogate in a string/],
    ['{"id":1,"name":"\\u0000"}', /^not JSON: a NUL in a string/],
    ['{"id":9223372036854775808,"name":"a"}', 'plant/id must be an int64 integer'],
    ['{"id":1.5,"name":7}', /^plant\/name must be string; plant\/id must be/],
    ['{"id":"1","name":"a"}', /^plant\/id must be/],
    ['{"id":1}', "plant must have required property 'name'"],
    ['[]', /^plant must be object/],
  ]
  for (const [text, reason] of refused) {
    const found = parsed(text)
    if (typeof reason === 'string') t.equal(found, reason)
    else t.match(found, reason)
  }
  t.equal(parse(Buffer.from([0x22, 0xff, 0x22])), 'not JSON: it is not UTF-8')
})

t.test('a line is exact and contains no control characters', async (t) => {
  t.equal(
    formatPlantLine({ id: -(2n ** 63n), name: 'ä"', tag: '' }),
    '{"id":-9223372036854775808,"name":"ä\\"","tag":""}\n',
  )
  const name = Array.from({ length: 0xff }, (_, code) => String.fromCharCode(code + 1)).join('')
  const line = formatPlantLine({ id: 1n, name })
  const codes = Array.from(line, (character) => character.charCodeAt(0))
  t.same(
    codes.filter((code) => code < 0x20 || (code >= 0x7f && code < 0xa0)),
    [0x0a],
  )
  t.same(parsed(line), { id: 1n, name })
})

async function linesOf(chunks: string[], limit = 10): Promise<[number, string | undefined][]> {
  async function* arriving() {
    for (const chunk of chunks) yield Buffer.from(chunk)
  }
  const lines: [number, string | undefined][] = []
  for await (const group of readLines(arriving(), limit)) {
    for (const { number, bytes } of group) lines.push([number, bytes?.toString()])
  }
  return lines
}

t.test('lines are numbered, wherever chunks end', async (t) => {
  const expected = [
    [1, 'a'],
    [2, ''],
    [3, 'bcd'],
    [4, 'e'],
  ]
  for (const chunks of [['a\n\nbcd\ne'], ['a', '\n', '\nb', 'c', 'd\n', 'e\n'], ['a\n\nbcd\n', '', 'e']]) {
    t.same(await linesOf(chunks), expected)
  }
  t.same(await linesOf([]), [])
})

t.test('a line over the limit is skipped, and later lines are read', async (t) => {
  const long = 'x'.repeat(11)
  const expected = [
    [1, undefined],
    [2, 'x'.repeat(10)],
    [3, undefined],
  ]
  t.same(await linesOf([`${long}\n${long.slice(1)}\n${long}`]), expected)
  t.same(await linesOf(['xxxxxx', 'xxxxxx', 'xxxxxx\nxxxxxxx', 'xxx\n', long]), expected)
})
