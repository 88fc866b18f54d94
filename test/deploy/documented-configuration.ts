import { readFileSync } from 'node:fs'
import type { Test } from 'tap'

const page = readFileSync('docs/configuration.md', 'utf8')

/** The variables that the service reads and their defaults, as the page on configuration has them. */
export const configuration = new Map(
  Array.from(page.matchAll(/^\| `([A-Z_]+)` \| *`?([^`|]*?)`? *\|/gm), ([, name = '', value = '']) => [name, value]),
)

/** What Node, the driver of PostgreSQL, and nobody else of the service's reads. */
const others = ['NODE_ENV', 'PGPASSFILE', 'PGPASSWORD']

/** A misspelt variable is read by nobody, and nobody complains. */
export function assertKnownVariables(t: Test, names: string[]): void {
  t.ok(names.length > 0, 'there are variables')
  t.same(
    names.filter((name) => !configuration.has(name) && !others.includes(name)),
    [],
    'each variable is read',
  )
}

/** The default of a variable that is a number. */
export const numberOf = (name: string): number => Number(configuration.get(name) ?? Number.NaN)

export const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'))
