import { readFileSync } from 'node:fs'
import t from 'tap'

const folded = (word: string) => Buffer.from(word.replace(/[a-z]/g, (letter) => letter.toUpperCase()))

/** Compares as LC_ALL=C sort -f does: by bytes, with ASCII letters folded to upper case. */
const compare = (a: string, b: string) =>
  Buffer.compare(folded(a), folded(b)) || Buffer.compare(Buffer.from(a), Buffer.from(b))

t.test('the words of the spelling check are in order, each once', async (t) => {
  const words = readFileSync('scripts/lint/words.txt', 'utf8').trimEnd().split('\n')
  t.same(words, [...words].sort(compare))
  const lower = words.map((word) => word.toLowerCase())
  t.equal(new Set(lower).size, words.length)
})
