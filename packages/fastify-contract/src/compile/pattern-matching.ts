import { createContext, Script } from 'node:vm'

/**
 * Time limit of one match in milliseconds. A match takes microseconds unless the pattern backtracks catastrophically.
 */
const timeout = 200

const script = new Script("new RegExp(pattern, 'u').test(text)")
const context = createContext({})

/**
 * Returns whether a text matches a regular expression of ECMA-262 with the flag u; an invalid one matches nothing.
 * Returns undefined if the match takes longer than 200 ms, since the document may hold any pattern.
 */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  try {
    Object.assign(context, { pattern, text })
    return script.runInContext(context, { timeout })
  } catch (error) {
    return (error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? undefined : false
  }
}
