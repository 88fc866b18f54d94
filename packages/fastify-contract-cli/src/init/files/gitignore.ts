import { readFileSync } from 'node:fs'

/** What Git must not record: what commands write, and a file that may have secrets. */
const patterns = ['node_modules/', 'dist/', '.env']

/** The .gitignore of a new project. */
export const gitignore = patterns.map((pattern) => `${pattern}\n`).join('')

/** Returns the patterns that a .gitignore lacks, each with or without slashes. */
export function missingPatterns(path: string): string[] {
  const bare = (line: string) => line.trim().replace(/^\/|\/$/g, '')
  const lines = readFileSync(path, 'utf8').split('\n').map(bare)
  return patterns.filter((pattern) => !lines.includes(bare(pattern)))
}
