import { hash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'

type Entry = [name: string, token: string, expires?: string]

/** The text of a tokens file. */
export function tokenFileText(...entries: Entry[]): string {
  const tokens = entries.map(([name, token, expires]) => ({
    name,
    sha256: hash('sha256', token),
    created: '2026-01-31T12:00:00Z',
    expires,
  }))
  return JSON.stringify({ tokens })
}

/** Writes a tokens file that is removed when the test ends; gives its path. */
export function writeTokenFile(t: Test, ...entries: Entry[]): string {
  const path = join(t.testdir({}), 'tokens.json')
  writeFileSync(path, tokenFileText(...entries), { mode: 0o600 })
  return path
}

/** The date and time that many seconds from now. */
export const inSeconds = (count: number): string => new Date(Date.now() + count * 1_000).toISOString()
