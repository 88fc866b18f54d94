import t from 'tap'
import { readLines } from '../../src/cli/plants-import.ts'

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
