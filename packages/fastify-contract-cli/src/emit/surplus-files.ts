import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { visible } from '../text/source-text.ts'

/**
 * Returns one line that lists the files of a directory that are not generated, if any. Skips editors' hidden files.
 *
 * @param generated The names of the generated files.
 */
export function surplusProblems(generated: string[], directory: string): string[] {
  const names = existsSync(directory) ? readdirSync(directory) : []
  const surplus = names.filter((name) => !generated.includes(name) && !name.startsWith('.')).sort()
  const paths = surplus.map((name) => join(directory, name))
  return paths.length > 0
    ? [`these files are not generated from the document; remove them: ${visible(paths.join(', '))}`]
    : []
}
