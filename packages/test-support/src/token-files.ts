import { hash } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'

type Entry = [name: string, token: string, expires?: string]

/** Returns the text of a token file. */
export function tokenFileText(...entries: Entry[]): string {
  const tokens = entries.map(([name, token, expires]) => ({
    name,
    sha256: hash('sha256', token),
    created: '2026-01-31T12:00:00Z',
    expires,
  }))
  return JSON.stringify({ tokens })
}

/** Writes a token file and returns its path; removed when the test ends. */
export function writeTokenFile(t: Test, ...entries: Entry[]): string {
  const path = join(t.testdir({}), 'tokens.json')
  writeFileSync(path, tokenFileText(...entries), { mode: 0o600 })
  return path
}

/** Replaces a token file atomically. */
export function replaceTokenFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** Returns the date and time in that many seconds (RFC 3339). */
export const inSeconds = (count: number): string => new Date(Date.now() + count * 1_000).toISOString()
