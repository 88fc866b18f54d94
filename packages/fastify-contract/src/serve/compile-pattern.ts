/**
 * Matches an escaped letter that ECMA-262 does not define, such as `\A` or `\p`. Without the flag u it would stand for
 * the letter itself, unlike in the dialect that it comes from.
 */
const foreignEscape = /\\(?![dDwWsSbBfnrtv]|c[A-Za-z]|x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4})[A-Za-z]/

/**
 * Compiles a regular expression of a schema: with the flag u, or else without it. Many documents escape characters
 * needlessly, as in `[\-\:]`, which the flag forbids. Throws a SyntaxError if the text is not a regular expression of
 * ECMA-262.
 */
export function compilePattern(text: string): RegExp {
  try {
    return new RegExp(text, 'u')
  } catch (error) {
    if (foreignEscape.test(text.replaceAll('\\\\', ''))) throw error
    return new RegExp(text)
  }
}
