import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { decoded } from './json-pointer.ts'

/** Matches a reference to another file, in YAML and in JSON, and captures its path. */
const fileReference = /["']?\$ref["']?\s*:\s*(?:"([^"#]+)|'([^'#]+)|([^\s"'#,}{]+))/g

/**
 * Returns the absolute paths of the files that an OpenAPI document consists of: its own, and those that its references
 * lead to. Skips files that do not exist, which the linter reports, and URLs.
 */
export async function sourceFiles(document: string): Promise<string[]> {
  const files = new Set([resolve(document)])
  // Iteration over a Set includes the elements that are added meanwhile.
  for (const file of files) {
    const text = await readFile(file, 'utf8')
    for (const [, double, single, plain] of text.matchAll(fileReference)) {
      const path = (double ?? single ?? plain) as string
      const target = resolve(dirname(file), decoded(path))
      const isFile = statSync(target, { throwIfNoEntry: false })?.isFile()
      if (isFile && !/^[a-z][a-z\d+.-]*:/i.test(path)) files.add(target)
    }
  }
  return [...files]
}
