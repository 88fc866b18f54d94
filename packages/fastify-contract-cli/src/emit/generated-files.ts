import { existsSync } from 'node:fs'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Contract, Routes } from 'fastify-contract/contract'
import { parseExactJson } from 'fastify-contract/json'
import type { Document, Endpoint } from '../document/openapi-document.ts'
import type { ValidRequest } from '../examples/valid-requests.ts'
import { exactUnions } from '../passes/exact-integers.ts'
import { normalizedDocument } from '../passes/normalize.ts'
import { type ChangedDocument, changedDocument } from './changed-document.ts'
import { handlerChanges } from './handler-changes.ts'
import { handlerStubs } from './handler-stubs.ts'
import { surplusProblems } from './surplus-files.ts'

/** The contents of files, by file name. */
export type Files = Record<string, string>

/** The generated files of a document, and what they are made of. */
export type Generated = {
  /** The same document always gives the same bytes. */
  files: Files
  /** The document in the form of `normalize`. */
  document: Document
  routes: Routes
  /** Returns an operation of the document with examples of a request that the service accepts. */
  validRequest: (endpoint: Endpoint) => ValidRequest
  /** What the service imports of these files. */
  contract: Required<Contract>
}

/** Returns the texts of the files whose contents in the directory differ or are missing, by their paths. */
async function staleFiles(files: Files, directory: string): Promise<Map<string, string>> {
  const stale = new Map<string, string>()
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name)
    if (!(await hasText(path, text).catch(() => false))) stale.set(path, text)
  }
  return stale
}

/** Returns whether a file has the bytes of a text. A file of another size is not read. */
const hasText = async (path: string, text: string): Promise<boolean> =>
  (await stat(path)).size === Buffer.byteLength(text) && (await readFile(path)).equals(Buffer.from(text))

/** Rejects with one line for files in the directory that are out of date, and one for files that are not generated. */
export async function rejectStale(files: Files, directory: string): Promise<void> {
  const stale = [...(await staleFiles(files, directory)).keys()]
  const problems = [
    ...(stale.length > 0 ? [`these files are out of date; run fastify-contract generate: ${stale.join(', ')}`] : []),
    ...surplusProblems(Object.keys(files), directory),
  ]
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

/**
 * Writes only the files that differ and returns their paths. Warns of files in the directory that are not generated.
 */
export async function writeStale(files: Files, directory: string): Promise<string[]> {
  const stale = await staleFiles(files, directory)
  await mkdir(directory, { recursive: true })
  for (const [path, text] of stale) await writeFile(path, text)
  for (const warning of surplusProblems(Object.keys(files), directory)) console.warn(warning)
  return [...stale.keys()]
}

/**
 * Writes the files that differ from those in a directory, prints what changed for handlers and a handler for each new
 * operation, to paste into `handlersFile`, and returns the paths of the written files. Creates these texts first: if that
 * fails, nothing is written, because the next run would not print them.
 */
export async function updateGenerated(contract: Generated, directory: string, handlersFile: string): Promise<string[]> {
  const before = await publishedIn(directory, contract)
  const changes = before === undefined ? [] : handlerChanges(before.changed, contract.document)
  const handlers = handlerStubs(contract, before?.document)
  const written = await writeStale(contract.files, directory)
  const target = existsSync(handlersFile) ? `, for ${handlersFile}` : ' handlers'
  if (changes.length > 0) console.log(`changed${target}:\n\n${changes.map((line) => `  ${line}\n`).join('')}`)
  if (handlers.length > 0) console.log(`new${target}:\n\n${handlers.join('\n\n')}\n`)
  return written
}

/** A document in the form of `normalize`, in which some operations have an operationId only, and without these. */
export type Before = { document: Document; changed: Document }

/**
 * Returns what the document in a directory has to be compared with; undefined if it is missing, or cannot be read, as
 * during a merge.
 */
async function publishedIn(directory: string, { files, document }: Generated): Promise<Before | undefined> {
  try {
    const text = await readFile(join(directory, 'openapi.json'), 'utf8')
    return documentBefore(text, files['openapi.json'] as string, document)
  } catch {
    return undefined
  }
}

/**
 * Returns what is needed of the older document to find the changes and the new operations. Integers that become exact
 * beside others do so in all operations: where a changed part has such an integer, the whole document is compared.
 */
export function documentBefore(oldText: string, newText: string, now: Document): Before {
  const part = changedDocument(oldText, newText)
  if (!exactUnions(now).some(part.isTouched)) {
    const before = normalizedPart(part)
    if (exactUnions(before.document).length === 0) return before
  }
  return normalizedPart({ document: parseExactJson(oldText) as Document, isComplete: () => true })
}

function normalizedPart({ document, isComplete }: Pick<ChangedDocument, 'document' | 'isComplete'>): Before {
  const normalized = normalizedDocument(document)
  const paths = Object.entries(normalized.paths ?? {}).filter(([path]) => isComplete(path))
  return { document: normalized, changed: { ...normalized, paths: Object.fromEntries(paths) } }
}
