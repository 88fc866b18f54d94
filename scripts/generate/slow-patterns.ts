import { createRequire } from 'node:module'
import { join } from './json-pointer.ts'
import type { Document } from './openapi-document.ts'
import { type Node, walkSchemas } from './walk-document.ts'

/** Characters. A text that a quadratic pattern checks may have at most so many, unless its schema has a maxLength. */
export const maxSlowLength = 800

/** Characters. With a larger maxLength, a body of 256 KiB could hold the event loop for more than a second. */
const maxOwnLength = 10_000

/** Milliseconds for the analysis of one pattern. */
const timeout = 1_000

/** How the time of a match grows with the length of the text; `unknown` if the analysis took too long. */
export type Growth = 'linear' | 'quadratic' | 'steep' | 'unknown'

type Analysis = { status: 'safe' | 'vulnerable' | 'unknown'; complexity?: { type: string; degree?: number } }

const known = new Map<string, Growth>()

/** Returns how the time of a backtracking match of a pattern with the flag u grows with the length of the text. */
export function growthOf(pattern: string): Growth {
  const growth = known.get(pattern) ?? analyze(pattern)
  known.set(pattern, growth)
  return growth
}

function analyze(pattern: string): Growth {
  // Without an optional or repeated part there is nothing to backtrack to. This spares most documents the analyzer.
  if (!/[*+?]|\{\d+,|\)\{/.test(pattern)) return 'linear'
  // Otherwise recheck starts a program of its own, which npm installs on some platforms only.
  process.env.RECHECK_SYNC_BACKEND = 'pure'
  const { checkSync } = createRequire(import.meta.url)('recheck') as {
    checkSync(source: string, flags: string, options: object): Analysis
  }
  const { status, complexity } = checkSync(pattern, 'u', { timeout })
  if (status === 'unknown') return 'unknown'
  if (status === 'safe') return 'linear'
  return complexity?.type === 'polynomial' && complexity.degree === 2 ? 'quadratic' : 'steep'
}

const rewrite = 'rewrite it so that no two repetitions can match the same characters'

/** Returns why a pattern of a schema cannot be served, or undefined. `keyword` is pattern or patternProperties. */
export function slowPatternProblem(keyword: string, pattern: string, { maxLength }: Node): string | undefined {
  const growth = growthOf(pattern)
  if (growth === 'steep') return `${pattern} takes more than quadratic time, which would block the service; ${rewrite}`
  if (growth !== 'quadratic' || keyword === 'patternProperties') return undefined
  if (typeof maxLength !== 'number' || maxLength <= maxOwnLength) return undefined
  return `${pattern} takes quadratic time; lower maxLength to at most ${maxOwnLength}, or ${rewrite}`
}

/** Returns a warning for each pattern that limits its text to `maxSlowLength` characters or could not be analyzed. */
export function slowPatternWarnings(document: Document): string[] {
  const warnings: string[] = []
  walkSchemas(document, (schema, pointer) => {
    const { pattern, patternProperties = {}, maxLength } = schema
    for (const key of Object.keys(patternProperties as object)) {
      if (growthOf(key) === 'linear') continue
      const place = join(pointer, 'patternProperties')
      warnings.push(`${place}: ${key} ${reasonOf(key)}; the names may have at most ${maxSlowLength} characters`)
    }
    if (maxLength !== undefined || !isSlow(schema)) return
    warnings.push(
      `${join(pointer, 'pattern')}: ${pattern} ${reasonOf(pattern as string)}; its text may have at most ${maxSlowLength} characters, unless you add a maxLength or rewrite it`,
    )
  })
  return warnings
}

const reasonOf = (pattern: string): string =>
  growthOf(pattern) === 'unknown' ? `could not be analyzed within ${timeout} ms` : 'takes quadratic time'

const isSlow = ({ pattern }: Node): boolean => typeof pattern === 'string' && growthOf(pattern) !== 'linear'

/** Returns a schema that checks slow patterns only for texts and names whose length it allows. */
export function withBoundedPatterns(schema: Node): Node {
  const { patternProperties = {}, allOf = [] } = schema
  const keys = Object.keys(patternProperties as object)
  if (keys.every((key) => growthOf(key) === 'linear')) return withBoundedPattern(schema)
  // Ajv checks allOf before patternProperties, and stops at the first error of a large body.
  const names = { propertyNames: { maxLength: maxSlowLength } }
  return withBoundedPattern({ ...schema, allOf: [...(allOf as unknown[]), names] })
}

function withBoundedPattern(schema: Node): Node {
  if (!isSlow(schema)) return schema
  const { pattern, maxLength = maxSlowLength, allOf = [], ...rest } = schema
  // With all errors, Ajv would check the pattern of a text that is too long, too.
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  const bounded = { if: { maxLength }, then: { pattern } }
  return { ...rest, maxLength, allOf: [...(allOf as unknown[]), bounded] }
}
