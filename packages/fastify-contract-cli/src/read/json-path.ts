import { createRequire } from 'node:module'
import { mapScalars } from '../document/walk-document.ts'

const require = createRequire(import.meta.url)

/** What a query selects: the keys from the root to a value. */
export type Location = string[]

let environment: InstanceType<typeof import('json-p3').JSONPathEnvironment> | undefined

/** Returns the library, which no document without overlays needs. */
function jsonPath(): NonNullable<typeof environment> {
  const { JSONPathEnvironment } = require('json-p3') as typeof import('json-p3')
  // By default, the library descends 50 levels only, and has a selector of keys beside those of RFC 9535.
  environment ??= new JSONPathEnvironment({ maxRecursionDepth: 1_000, keysPattern: /(?!)/y })
  return environment
}

/**
 * Returns the locations that a JSONPath query (RFC 9535) selects, each once, in their order. A filter compares an integer
 * beyond 2^53 - 1 as a double.
 *
 * @param hasBigints Whether the value may hold a bigint.
 */
export function locationsOf(query: string, value: unknown, hasBigints: boolean): Location[] {
  const compiled = jsonPath().compile(query)
  const doubles = hasBigints && query.includes('?') ? mapScalars(value, doubleOf) : value
  const found = new Map<string, Location>()
  for (const { location } of compiled.lazyQuery(doubles as Parameters<typeof compiled.lazyQuery>[0])) {
    const keys = location.map(String)
    found.set(JSON.stringify(keys), keys)
  }
  return [...found.values()]
}

/** Returns why a text is no JSONPath query; undefined if it is one. */
export function syntaxProblem(query: string): string | undefined {
  try {
    jsonPath().compile(query)
    return undefined
  } catch (error) {
    // The library adds a part of the query and the offset of the mistake.
    return (error as Error).message.replace(/ \('.*':\d+\)$/s, '').replace(/\s+/g, ' ')
  }
}

/** Returns whether an error of the library is that a query descends into more levels than `locationsOf` follows. */
export const isTooDeep = (error: unknown): boolean => (error as Error).name === 'JSONPathRecursionLimitError'

const doubleOf = (scalar: unknown): unknown => (typeof scalar === 'bigint' ? Number(scalar) : scalar)
