import { heapInUse } from 'fastify-contract-test-support/heap'
import t from 'tap'
import { parseJson } from '../../src/json/parse-json.ts'

const size = 262_144
const times = 8

/** Returns a JSON array, or object, of about `size` characters with generated items. */
function list(item: (n: number) => string, [open, close] = ['[', ']']): string {
  const items: string[] = []
  for (let length = 0; length < size; length += (items.at(-1) as string).length + 1) items.push(item(items.length))
  return `${open}${items.join()}${close}`
}

const members = (member: (n: number) => string) => list(member, ['{', '}'])
const nested = (open: string, close: string) => open.repeat(120) + close.repeat(120)

/** The most expensive known text of each kind. */
const texts: Record<string, string> = {
  'an index key that is large': list(() => '{"1023":0}'),
  'an index key that is small': list(() => '{"25":0}'),
  'index keys of one object': members((n) => `"${1_000 * n}":0`),
  'nested arrays': list(() => nested('[', ']')),
  'nested objects': list(() => nested('{"":', '}').replace('}', '0}')),
  'empty objects': list(() => '{}'),
  'arrays of one': list(() => '[1]'),
  'a name for each object': list((n) => `{"${n.toString(36)}_":0}`),
  'names of one object': members((n) => `"${n.toString(36)}_":0`),
  'long names': list((n) => `{"${String(n).padStart(2_000, 'k')}":0}`),
  numbers: list(() => '1'),
  'numbers with a fraction': list(() => '1.0'),
  'inexact numbers': list((n) => String(2n ** 60n + BigInt(n))),
  'an inexact number for each array': list((n) => `[${2n ** 60n + BigInt(n)}]`),
  'characters of two bytes': list((n) => `"\u0101${n}"`),
}

for (const [name, text] of Object.entries(texts)) {
  t.test(`a value costs at most 34 times its text: ${name}`, async (t) => {
    const before = heapInUse()
    const documents = Array.from({ length: times }, (_, n) => parseJson(`${text}${' '.repeat(n)}`))
    const cost = (heapInUse() - before) / times / text.length
    t.ok(cost < 34, `${cost.toFixed(1)} times`)
    t.equal(documents.length, times)
  })
}
