import t from 'tap'
import { textOfPattern } from '../../src/compile/document/patterns.ts'

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
  ]
  for (const [pattern, text, longer] of cases) {
    t.equal(textOfPattern(pattern), text, pattern)
    t.equal(textOfPattern(pattern, 3), longer, pattern)
  }
})

t.test(
  'no text is returned when the parts do not match together, are too long, or the pattern is invalid',
  async (t) => {
    for (const pattern of [
      '^(?=a)b',
      '^(?<n>a|b)\\k<n>$',
      '\\bfoo\\B',
      '^a{2000}$',
      '^[]$',
      '^(a',
      '^\\cA$',
      '\u{1f600}{9999999}',
    ]) {
      t.equal(textOfPattern(pattern), undefined, pattern)
    }
    t.equal(textOfPattern('^(a{999}){9}$'), undefined)
    t.equal(textOfPattern('\u{1f600}+'), '\u{1f600}')
  },
)
