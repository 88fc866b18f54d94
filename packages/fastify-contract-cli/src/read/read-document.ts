import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { FetchOptions, UrlReader } from '../fetch/url-reader.ts'
import { FetchError, FetchLimitError, isUrl } from '../fetch/url-rules.ts'
import { copyPaths, type NamedFile } from './copy-paths.ts'
import { FetchedFiles } from './fetched-files.ts'
import { nameCopy } from './file-text.ts'
import type { OverlayOptions } from './overlays/overlays.ts'
import { LimitError, SourceError } from './source-error.ts'
import { readSources, type Sources } from './source-files.ts'

/** A fetched document in a temporary directory. */
export type FetchedDocument = {
  sources: Sources
  /** The directory that stands for that of a project. */
  directory: string
  /** The paths of the files in the directory, with slashes, the document first. */
  paths: string[]
}

/**
 * Reads a document, named by a path or a URL, and the files to which it refers. Throws a SourceError.
 *
 * @param within The directories to which the references of a file may lead; default: any.
 */
export async function readDocument(
  path: string,
  { within, overlays, insteadOf, ...options }: FetchOptions & OverlayOptions & { within?: string[] | undefined } = {},
): Promise<Sources> {
  return isUrl(path)
    ? (await fetchDocument(path, { ...options, overlays })).sources
    : await readSources(path, within, undefined, { overlays, insteadOf })
}

/**
 * Fetches a document and the files to which it refers, and writes them into a temporary directory as a project has them,
 * which exists until the process exits. They are read from there, so that what is compiled is what is saved. Messages name
 * their URLs. Throws a SourceError.
 *
 * @param document The path of the document in the project if it is saved already.
 */
export async function fetchDocument(
  url: string,
  { overlays, ...options }: FetchOptions & Pick<OverlayOptions, 'overlays'> = {},
  document?: string,
): Promise<FetchedDocument> {
  const { fetched, sources } = await fetchSources(url, options)
  const paths = copyPaths(namedFiles(sources), document)
  const directory = await temporaryDirectory()
  for (const [path, bytes] of fetched.copies(paths, sources.files)) {
    const copy = join(directory, path)
    await mkdir(dirname(copy), { recursive: true })
    await writeFile(copy, bytes)
  }
  for (const [url, path] of paths) nameCopy(join(directory, path), url)
  const [root = ''] = paths.values()
  const [top = ''] = root.split('/').slice(0, -1)
  // No reference may lead to another file of this machine.
  const overlaying = { overlays, insteadOf: document }
  const read = await readSources(join(directory, root), [join(directory, top)], undefined, overlaying)
  return { sources: read, directory, paths: [...paths.values()] }
}

/** Returns the files that were read: an example that is neither text nor data stays where it is. */
function namedFiles({ files, texts }: Sources): NamedFile[] {
  const named: NamedFile[] = []
  for (const [url, source] of files) {
    if (source !== undefined) named.push({ url, extension: /^\s*[{[]/.test(source.text) ? '.json' : '.yaml' })
    else if (texts.has(url)) named.push({ url, extension: '.txt' })
  }
  return named
}

/** Fetches the files of a document. */
async function fetchSources(url: string, options: FetchOptions): Promise<{ fetched: FetchedFiles; sources: Sources }> {
  // Most documents are files.
  const { UrlReader } = await import('../fetch/url-reader.ts')
  let reader: UrlReader | undefined
  try {
    reader = new UrlReader(url, options)
    const fetched = await FetchedFiles.of(reader, url)
    return { fetched, sources: await readSources(fetched.root, undefined, fetched) }
  } catch (error) {
    if (!(error instanceof FetchError)) throw error
    throw error instanceof FetchLimitError ? new LimitError(error.message) : new SourceError(error.message)
  } finally {
    reader?.close()
  }
}

const directories: string[] = []

async function temporaryDirectory(): Promise<string> {
  if (directories.length === 0) {
    process.once('exit', removeDirectories)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.prependOnceListener(signal, endBySignal)
  }
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'fastify-contract-')))
  directories.push(directory)
  return directory
}

/** Ends the process as the signal does without a listener. Another listener ends it in its own way. */
function endBySignal(signal: NodeJS.Signals): void {
  removeDirectories()
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
}

function removeDirectories(): void {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
}
