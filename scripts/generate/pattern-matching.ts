import { createContext, Script } from 'node:vm'

/** Milliseconds for one match. A match takes microseconds, unless the pattern backtracks without an end. */
const timeout = 200

const script = new Script("new RegExp(pattern, 'u').test(text)")
const context = createContext({})

/**
 * Returns whether a text matches a regular expression of ECMA-262 with the flag u. Returns false for a pattern that is
 * invalid, and for one that takes longer than 200 ms: patterns and texts are the document's.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  try {
    Object.assign(context, { pattern, text })
    return script.runInContext(context, { timeout })
  } catch {
    return false
  }
}
