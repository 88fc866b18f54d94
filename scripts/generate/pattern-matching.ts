import { createContext, Script } from 'node:vm'

/**
 * Time limit of one match in milliseconds. A match takes microseconds unless the pattern backtracks catastrophically.
 */
const timeout = 200

const script = new Script("new RegExp(pattern, 'u').test(text)")
const context = createContext({})

/**
 * Returns whether a text matches a regular expression of ECMA-262 with the flag u. Returns false if the pattern is
 * invalid or the match takes longer than 200 ms: the document may hold any pattern.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  try {
    Object.assign(context, { pattern, text })
    return script.runInContext(context, { timeout })
  } catch {
    return false
  }
}
