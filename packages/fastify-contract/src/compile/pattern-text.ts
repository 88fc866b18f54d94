import { matchesPattern } from './pattern-matching.ts'

/** The maximum length of an example string: a quantifier or a minLength may require any length. */
export const maxLength = 1000

/**
 * Candidates for a character class or an escape, in order of preference: letters and digits, then the rest of ASCII.
 */
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
 * Returns a string that matches a regular expression of ECMA-262 with the flag u. Each quantified part is repeated
 * `more` times beyond its minimum, as far as its maximum allows. The string is built part by part, ignoring lookahead
 * and backreferences; returns undefined if the result does not match.
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
