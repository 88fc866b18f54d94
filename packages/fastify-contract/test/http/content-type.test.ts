import t from 'tap'
import { isEssence, parseContentType } from '../../src/http/request-head.ts'

const read = (text: string) => {
  const { essence, parameters } = parseContentType(text) ?? {}
  return essence && [essence, Object.fromEntries(parameters as Map<string, string>)]
}

t.test('a media type is read with its parameters', async (t) => {
  t.same(read('Text/Plain'), ['text/plain', {}])
  t.same(read('a/b;'), ['a/b', {}])
  t.same(read('a/b; C=d;e="f;\\"g" ;; h=i '), ['a/b', { c: 'd', e: 'f;"g', h: 'i' }])
  t.same(read(`a/b;c="${'d'.repeat(990)}"`)?.[0], 'a/b')
})

t.test('malformed, overlong and repeated Content-Type values give undefined', async (t) => {
  const texts = [
    '',
    'a',
    'a/',
    'a/b c',
    'a/b,c/d',
    'a/b;c',
    'a/b;c=',
    'a/b;c="d',
    'a/b;c=d e',
    'a/b;c=1;C=2',
    `a/b;${' '.repeat(1_000)}`,
  ]
  for (const text of texts) t.equal(read(text), undefined, text)
})

t.test('the names of a media type are tokens of RFC 9110, with and without parameters', async (t) => {
  for (const character of "!#$%&'*+.^`|~-_") {
    const text = `a/b${character}c`
    t.equal(isEssence(text), true, text)
    t.same(read(text), [text, {}])
  }
  for (const text of ['a', 'a/', 'a/b;c=d', 'a/b c', 'a/b/c', '']) t.equal(isEssence(text), false, text)
})
