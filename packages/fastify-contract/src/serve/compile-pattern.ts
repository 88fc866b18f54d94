/**
 * Matches what ECMA-262 reads otherwise than the dialect that it comes from, and does not reject without the flag u: an
 * escaped letter that it does not define, such as `\p`, classes inside of classes, such as `[[:alpha:]]` and
 * `[a-z&&[^b]]`, and a quantifier such as `{,5}`.
 */
const foreign =
  /\\(?![dDwWsSbBfnrtv]|c[A-Za-z]|x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4})[A-Za-z]|\[[^\]]*(?:\[:|&&)|\{(?!\d+(?:,\d*)?\})[\d, ]*\d[\d, ]*\}/

/** What other dialects write in another way. */
const translations: Record<string, string> = { '\\A': '^', '\\z': '$', '\\Z': '$', '(?P<': '(?<' }

/**
 * Compiles a regular expression of a schema: with the flag u, or else without it. Many documents escape characters
 * needlessly, as in `[\-\:]`, which the flag forbids. Translates what another dialect means for certain: `\A`, `\z`,
 * `\Z`, `(?P<name>…)`, and `(?i)` or `(?s)` at the start. Throws a SyntaxError for any other text that is not a regular
 * expression of ECMA-262.
 */
export function compilePattern(text: string): RegExp {
  try {
    return new RegExp(text, 'u')
  } catch {
    const [start, flags = ''] = /^\^?\(\?([is]+)\)/.exec(text) ?? ['']
    const rest = (start.startsWith('^') ? '^' : '') + text.slice(start.length)
    const source = rest.replace(/\\.|\[(?:\\.|[^\]\\])*\]|\(\?P</gs, (token) => translations[token] ?? token)
    try {
      return new RegExp(source, `${flags}u`)
    } catch (error) {
      if (foreign.test(source.replaceAll('\\\\', ''))) throw error
      return new RegExp(source, flags)
    }
  }
}
