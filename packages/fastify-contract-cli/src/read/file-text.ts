import { type Stats, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, isAbsolute, relative, sep } from 'node:path'
import { isUrl } from '../fetch/url-rules.ts'
import { LimitError, SourceError } from './source-error.ts'

/** The URLs of fetched files, by the absolute paths of their copies. */
const urls = new Map<string, string>()

/** Lets messages name a copy of a fetched file by its URL. */
export const nameCopy = (file: string, url: string): unknown => urls.set(file, url)

/** Returns whether a file is a copy of a fetched one. */
export const isCopy = (file: string): boolean => urls.has(file)

/** Returns the name of a file in messages. */
export const shownName = (file: string): string =>
  isUrl(file) ? file : (urls.get(file) ?? (relative('', file) || '.'))

/** Returns the path of a file from another one, with a slash, by which Redocly tells it from a name. */
export function pathTo(from: string, file: string): string {
  const path = relative(dirname(from), file).split(sep).join('/')
  return path.startsWith('../') ? path : `./${path}`
}

/** Returns whether a file is in a directory, at any depth. */
export function isWithin(directory: string, file: string): boolean {
  const path = relative(directory, file)
  return path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path)
}

/** Returns the state of a file; undefined if there is none, or if a part of its path is no readable directory. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Returns whether a path leads to a file, or to a device or a pipe, which `readBytes` rejects. */
export const isFile = (path: string): boolean => statOf(path)?.isDirectory() === false

/**
 * Reads a file of at most `limit` bytes. Throws a SourceError.
 *
 * @param what What has more bytes, in the message.
 */
export async function readBytes(file: string, limit: number, what = 'the document has'): Promise<Uint8Array> {
  const name = shownName(file)
  const stats = statOf(file)
  if (stats === undefined) throw new SourceError(`${name} does not exist; name an OpenAPI document`)
  if (!stats.isFile())
    throw new SourceError(`${name} is a ${stats.isDirectory() ? 'directory' : 'device'}; name a file`)
  if (stats.size > limit) throw new LimitError(`${name}: ${what} more than ${limit} bytes; split it`)
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw new SourceError(`${name} cannot be read (${error.code}); change its permissions`)
  })
  try {
    // A file that grows meanwhile is read up to the size that was checked.
    const bytes = Buffer.alloc(stats.size)
    const { bytesRead } = await handle.read(bytes, 0, stats.size, 0)
    return bytes.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** Returns the text of bytes in UTF-8; undefined for other bytes. */
export function decodedText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
