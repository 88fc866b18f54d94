import { readFileSync } from 'node:fs'
import type { Test } from 'tap'

const pages = ['docs/configuration.md', 'packages/fastify-contract/docs/configuration.md']
const text = pages.map((page) => readFileSync(page, 'utf8')).join('\n')

/** The environment variables of the service with their defaults, from the pages on its configuration. */
export const configuration = new Map(
  Array.from(text.matchAll(/^\| `([A-Z_]+)` \| *`?([^`|]*?)`? *\|/gm), ([, name = '', value = '']) => [name, value]),
)

/** Variables that are read by Node or by the PostgreSQL driver, not by the service's own code. */
const others = ['NODE_ENV', 'PGPASSFILE', 'PGPASSWORD']

/** Fails the test unless every variable exists: a misspelled one would be ignored silently. */
export function assertKnownVariables(t: Test, names: string[]): void {
  t.ok(names.length > 0, 'there are variables')
  t.same(
    names.filter((name) => !configuration.has(name) && !others.includes(name)),
    [],
    'each variable exists',
  )
}

/** Returns the default of a numeric variable. */
export const numberOf = (name: string): number => Number(configuration.get(name) ?? Number.NaN)

export const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'))
