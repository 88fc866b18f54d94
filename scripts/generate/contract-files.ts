import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Document } from '../../src/openapi/document.ts'
import { unservable } from '../../src/openapi/unsupported-features.ts'
import { contractTypes } from './contract-types.ts'
import { inexactIntegers } from './inexact-integers.ts'
import { int64Replies } from './int64-replies.ts'
import { redocly } from './redocly.ts'

/**
 * Takes the path of an OpenAPI document and that of the linter's rules for it; gives what the server and its client are
 * built on, by file name: the document in one piece, its types, and where its replies hold an int64. The same document
 * gives the same bytes. Rejects with the linter's findings, each with its place.
 */
export async function contractFiles(path: string, rules = 'redocly.yaml'): Promise<Record<string, string>> {
  const bundling = redocly('bundle', path, '--ext=json', `--config=${rules}`)
  // Where both complain the linter says it better.
  await Promise.all([redocly('lint', path, '--format=stylish', `--config=${rules}`), bundling.catch(() => {})])
  const document: Document = JSON.parse(await bundling)
  const replies = int64Replies(document)
  const problems = [...inexactIntegers(document), ...unservable(document), ...replies.problems]
  if (problems.length > 0) throw new Error(`${path} cannot be served as it says:\n  ${problems.join('\n  ')}`)
  return {
    'openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'api.d.ts': `// Written by npm run generate from ${basename(path)}; edit that instead.\n${await contractTypes(document)}`,
    'int64-replies.json': `${JSON.stringify(replies.table, null, 2)}\n`,
  }
}

/** Takes files by name; gives the paths of those that differ from what is in the directory. */
export async function staleFiles(files: Record<string, string>, directory: string): Promise<string[]> {
  const stale = []
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name)
    if ((await readFile(path, 'utf8').catch(() => undefined)) !== text) stale.push(path)
  }
  return stale
}

/** Writes the files that differ, and no other; gives their paths. */
export async function writeStale(files: Record<string, string>, directory: string): Promise<string[]> {
  const stale = await staleFiles(files, directory)
  for (const path of stale) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, files[basename(path)] as string)
  }
  return stale
}
