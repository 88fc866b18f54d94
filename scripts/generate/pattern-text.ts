import { matchesPattern } from './pattern-matching.ts'

/** The most characters of an example text: a quantifier or a minLength may ask for any number. */
export const maxLength = 1000

/** What stands for a class or an escape, the first that matches: letters and digits before all else of ASCII. */
const characters = [
  'a',
  '0',
  'A',
  ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)),
  '\t\n\u00e9',
]
  .join('')
  .split('')

/**
 * Returns a text that a regular expression of ECMA-262 with the flag u matches, each part repeated `more` times beyond what
 * it must be, where it may. Returns undefined where the text that is built part by part does not match: a lookahead or a
 * backreference counts for nothing in it.
 */
export function textOfPattern(pattern: string, more = 0): string | undefined {
  let at = 0
  const take = (token: RegExp): string | undefined => {
    token.lastIndex = at
    const found = token.exec(pattern)?.[0]
    at += found?.length ?? 0
    return found
  }

  function alternatives(): string {
    const first = sequence()
    while (take(/\|/y) !== undefined) sequence()
    return first
  }

  function sequence(): string {
    let text = ''
    while (at < pattern.length && !/[|)]/.test(pattern.charAt(at))) text += repeated(atom())
    return text
  }

  function atom(): string {
    if (take(/\^|\$|\\b/iy) !== undefined) return ''
    const group = take(/\((\?(:|<?[=!]|<[^>]*>))?/y)
    if (group !== undefined) {
      const text = alternatives()
      take(/\)/y)
      return /[=!]$/.test(group) ? '' : text
    }
    const some = take(/\[(\\.|[^\]\\])*\]|\\([pPu]\{[^}]*\}|u[\da-f]{4}|x..|c.|k<[^>]*>|.)|\./isuy)
    if (some !== undefined) return characterOf(some)
    return take(/./suy) as string
  }

  function repeated(text: string): string {
    const quantifier = take(/[*+?]\??|\{\d+(,\d*)?\}\??/y)
    if (quantifier === undefined) return text
    const [least = quantifier.startsWith('+') ? 1 : 0] = quantifier.match(/\d+/g)?.map(Number) ?? []
    const most = /^\?/.test(quantifier)
      ? 1
      : (/^\{(\d+)\}/.exec(quantifier)?.[1] ?? /,(\d+)/.exec(quantifier)?.[1] ?? Infinity)
    const count = Math.min(least + more, Number(most))
    if (count * text.length > maxLength) throw new RangeError('too long')
    return text.repeat(count)
  }

  try {
    const text = alternatives()
    return text.length <= maxLength && matchesPattern(pattern, text) ? text : undefined
  } catch {
    return undefined
  }
}

function characterOf(source: string): string {
  const one = new RegExp(`^(?:${source})$`, 'u')
  return characters.find((each) => one.test(each)) ?? ''
}
