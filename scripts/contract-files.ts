import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'
import type { Document } from '../src/contract/document.ts'
import { unservable } from '../src/contract/unservable.ts'
import { inexactIntegers } from './exact-integers.ts'
import { int64Replies } from './int64-replies.ts'
import { redocly } from './redocly.ts'

/**
 * Takes the path of an OpenAPI document; gives what the server and its client are built on, by file name: the document
 * in one piece, its types, and where its replies hold an int64. The same document gives the same bytes. Rejects with the
 * linter's findings, each with its place.
 */
export async function contractFiles(path: string): Promise<Record<string, string>> {
  const [bundle] = await Promise.all([redocly('bundle', path, '--ext=json'), redocly('lint', path, '--format=stylish')])
  const document: OpenAPI3 & Document = JSON.parse(bundle)
  const replies = int64Replies(document)
  const problems = [...inexactIntegers(document), ...unservable(document), ...replies.problems]
  if (problems.length > 0) throw new Error(`${path} cannot be served as it says:\n  ${problems.join('\n  ')}`)
  return {
    'openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'api.d.ts': `// Written by npm run generate from ${basename(path)}; edit that instead.\n${await types(document)}`,
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

/** openapi-typescript's types, with int64 as bigint: a double does not hold every 64-bit integer. */
async function types(document: OpenAPI3): Promise<string> {
  const { factory, SyntaxKind } = ts
  const nodes = await openapiTS(document, {
    transform({ type, format }) {
      const types = [type].flat()
      if (format !== 'int64' || !types.includes('integer')) return undefined
      const bigint = factory.createKeywordTypeNode(SyntaxKind.BigIntKeyword)
      if (!types.includes('null')) return bigint
      return factory.createUnionTypeNode([bigint, factory.createLiteralTypeNode(factory.createNull())])
    },
  })
  return astToString(nodes)
}
