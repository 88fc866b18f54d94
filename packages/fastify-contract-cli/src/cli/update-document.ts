import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { parseExactJson } from 'fastify-contract/json'
import { type Change, contractChanges } from '../changes/contract-changes.ts'
import type { Document } from '../document/openapi-document.ts'
import type { CompileOptions } from '../emit/checked-document.ts'
import { type Compiled, compileContract } from '../emit/compile.ts'
import { rejectStale, updateGenerated } from '../emit/generated-files.ts'
import { isWithin } from '../read/file-text.ts'
import { type FetchedDocument, fetchDocument } from '../read/read-document.ts'
import { readSources } from '../read/source-files.ts'
import { visible } from '../text/source-text.ts'
import { formats } from './changes-formats.ts'
import { fetchingStep, type Step, withProgress } from './progress.ts'
import type { ProjectDocument } from './project-documents.ts'

/** The options of `generate --update`. */
export type UpdateOptions = CompileOptions & {
  allowedOrigins: string[]
  skipUnsupported: boolean
  out: string
  handlers: string
  check: boolean
}

/** A document that is fetched again. */
type Update = {
  /** The path of the document in the project. */
  document: string
  compiled: Compiled
  /** The changes of the contract; undefined if there is no generated document to compare with. */
  changes: Change[] | undefined
  /** The files that differ from those of the project, by path. */
  files: Map<string, Uint8Array>
  /** The files of the project to which the document does not refer any more. */
  unused: string[]
}

/**
 * Fetches a document of the project from its URL in package.json, lists its changes, and writes its files and the
 * generated ones. Writes nothing if a file cannot be fetched, or if the document cannot be served.
 */
export async function updateDocument({ name, settings }: ProjectDocument, options: UpdateOptions): Promise<void> {
  const { document, origin } = settings
  const place = `fastify-contract${name === undefined ? '' : `.documents.${name}`}`
  if (document !== undefined && !isWithin('.', resolve(document)))
    throw new Error(`package.json, ${place}.document: ${document} is outside of this directory; move it here`)
  if (document === undefined || origin === undefined) {
    throw new Error(
      `package.json has no ${place}.origin, which is the URL of the document; write it there, with its file as ` +
        `${place}.document`,
    )
  }
  const update = await withProgress((step) => fetchUpdate(document, origin, options, step))
  const { compiled, changes, files, unused } = update
  for (const warning of compiled.warnings) console.warn(visible(`${document}: ${warning}`))
  const since = join(options.out, 'openapi.json')
  console.log(
    changes === undefined
      ? `there is no ${since} to compare with`
      : formats.text({ document, since, next: undefined, changes }),
  )
  if (options.check) {
    const names = [...files.keys()].join(', ')
    if (files.size > 0)
      throw new Error(`these files differ from those of ${origin}; run fastify-contract generate --update: ${names}`)
    return await rejectStale(compiled.files, options.out)
  }
  await replaceFiles(files)
  const generated = await updateGenerated(compiled, options.out, options.handlers)
  const written = [...files.keys(), ...generated]
  console.log(written.length > 0 ? `wrote ${written.join(', ')}` : 'up to date')
  if (unused.length > 0) console.log(visible(`the document does not refer to ${unused.join(', ')} any more`))
}

async function fetchUpdate(document: string, origin: string, options: UpdateOptions, step: Step): Promise<Update> {
  const { allowedOrigins, overlays, out, rules, errors, skipUnsupported } = options
  const fetching = { allowedOrigins, overlays, onFile: fetchingStep(step) }
  const fetched = await fetchDocument(origin, fetching, posixPath(document))
  step('generating types and validators')
  const compiled = await compileContract(document, { rules, errors, skipUnsupported, sources: fetched.sources })
  const known = await knownFiles(document)
  const files = await differingFiles(fetched, known)
  step('comparing the documents')
  const published = join(out, 'openapi.json')
  const [root = ''] = fetched.paths
  const changes = existsSync(published)
    ? await contractChanges(
        published,
        join(fetched.directory, root),
        parseExactJson(compiled.files['openapi.json'] as string) as Document,
        { sources: fetched.sources },
      )
    : undefined
  const unused = known.filter((path) => !fetched.paths.includes(path))
  return { document, compiled, changes, files, unused }
}

const posixPath = (path: string): string => relative('.', path).split(sep).join('/')

/** Returns the paths of the files of the document, with slashes: that of the document if they cannot be read. */
async function knownFiles(document: string): Promise<string[]> {
  const files = await readSources(document, ['.']).then(
    ({ files }) => [...files.keys()],
    () => [document],
  )
  return files.map(posixPath)
}

/** Returns the files that the project lacks or has otherwise. Rejects if one of them is no file of the document. */
async function differingFiles(
  { directory, paths }: FetchedDocument,
  known: string[],
): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  for (const path of paths) {
    const bytes = await readFile(join(directory, path))
    const own = await readFile(path).catch(() => undefined)
    if (own?.equals(bytes)) continue
    if (existsSync(path) && !known.includes(path))
      throw new Error(
        `${path} exists, and is no file of the document; move it, so that the fetched one can have its place`,
      )
    files.set(path, bytes)
  }
  return files
}

/** Writes files beside their places, and moves them there when all are written. */
async function replaceFiles(files: Map<string, Uint8Array>): Promise<void> {
  const moves = Array.from(files, ([path, bytes]) => ({ path, bytes, from: `${path}.${process.pid}.new` }))
  try {
    for (const { path, bytes, from } of moves) {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(from, bytes)
    }
    for (const { path, from } of moves) await rename(from, path)
  } finally {
    for (const { from } of moves) await rm(from, { force: true })
  }
}
