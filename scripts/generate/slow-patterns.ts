import { createRequire } from 'node:module'
import { join } from './json-pointer.ts'
import type { Document } from './openapi-document.ts'
import { type Node, walkSchemas } from './walk-document.ts'

/** Characters. A text that a slow pattern checks may have at most so many, unless its schema has a maxLength. */
export const maxSlowLength = 800

/** Milliseconds for the analysis of one pattern. */
const timeout = 1_000

/** How the time of a match grows with the length of the text; `unknown` if the analysis took too long. */
export type Growth = 'linear' | 'polynomial' | 'exponential' | 'unknown'

type Analysis = { status: 'safe' | 'vulnerable' | 'unknown'; complexity?: { type: string } }

const known = new Map<string, Growth>()

/** Returns how the time of a backtracking match of a pattern with the flag u grows with the length of the text. */
export function growthOf(pattern: string): Growth {
  const growth = known.get(pattern) ?? analyze(pattern)
  known.set(pattern, growth)
  return growth
}

function analyze(pattern: string): Growth {
  // Without a repetition without a limit, the time is bounded. This spares most documents the load of the analyzer.
  if (!/[*+]|,\}/.test(pattern)) return 'linear'
  // Otherwise recheck starts a program of its own, which npm installs on some platforms only.
  process.env.RECHECK_SYNC_BACKEND = 'pure'
  const { checkSync } = createRequire(import.meta.url)('recheck') as {
    checkSync(source: string, flags: string, options: object): Analysis
  }
  const { status, complexity } = checkSync(pattern, 'u', { timeout })
  if (status === 'unknown') return 'unknown'
  return status === 'safe' ? 'linear' : (complexity?.type as Growth)
}

/** Returns why a pattern of a schema cannot be served, or undefined. `keyword` is pattern or patternProperties. */
export function slowPatternProblem(keyword: string, pattern: string): string | undefined {
  const growth = growthOf(pattern)
  const isBounded = keyword === 'pattern' && growth !== 'exponential'
  if (growth === 'linear' || growth === 'unknown' || isBounded) return undefined
  return `${pattern} takes ${growth} time for some texts, which would block the service; rewrite it so that no two repetitions can match the same characters`
}

/** Returns a warning for each pattern whose texts the service limits to `maxSlowLength` characters. */
export function slowPatternWarnings(document: Document): string[] {
  const warnings: string[] = []
  walkSchemas(document, (schema, pointer) => {
    if (schema.maxLength !== undefined || !isSlow(schema)) return
    warnings.push(
      `${join(pointer, 'pattern')}: ${schema.pattern} takes a time that grows faster than its text, so the service accepts at most ${maxSlowLength} characters; add a maxLength, or rewrite it`,
    )
  })
  return warnings
}

const isSlow = ({ pattern }: Node): boolean => typeof pattern === 'string' && growthOf(pattern) !== 'linear'

/** Returns a schema that checks a slow pattern only for texts whose length it allows. */
export function withBoundedPattern(schema: Node): Node {
  if (!isSlow(schema)) return schema
  const { pattern, maxLength = maxSlowLength, allOf = [], ...rest } = schema
  // With all errors, Ajv would check the pattern of a text that is too long, too.
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  const bounded = { if: { maxLength }, then: { pattern } }
  return { ...rest, maxLength, allOf: [...(allOf as unknown[]), bounded] }
}
