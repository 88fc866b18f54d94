import type { Test } from 'tap'

type Files = { [name: string]: string | Files }

/**
 * Changes to a new directory with these files until the end of a test, and returns its path. The directory has no
 * configuration of Redocly, so no bundler runs for a document of one JSON file. Until then, standard error is no
 * terminal, so that commands print no progress.
 */
export function enterDirectory(t: Test, files: Files): string {
  const before = process.cwd()
  const directory = t.testdir(files)
  t.teardown(() => process.chdir(before))
  process.chdir(directory)
  t.intercept(process.stderr, 'isTTY', { value: false })
  return directory
}
