import type { Test } from 'tap'

type Files = { [name: string]: string | Files }

/**
 * Changes to a new directory with these files until the end of a test, and returns its path. The directory has no
 * configuration of Redocly, so no bundler runs for a document of one JSON file.
 */
export function enterDirectory(t: Test, files: Files): string {
  const before = process.cwd()
  const directory = t.testdir(files)
  t.teardown(() => process.chdir(before))
  process.chdir(directory)
  return directory
}
