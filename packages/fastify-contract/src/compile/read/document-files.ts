import { realpathSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { keysOf } from '../document/json-pointer.ts'
import { isFile, isWithin, readBytes, shownName, textOf } from './file-text.ts'
import { fetchDocument, isUrl } from './named-url.ts'
import { parseSource, placeText, type Source, SourceError } from './read-source.ts'

/** The limits of a document. `bytes` counts all its files. */
export const sourceLimits = { bytes: 64 * 2 ** 20, files: 10_000 }

/** The member that refers to a file. */
export type Origin = { file: string; pointer: string; isExample?: boolean }

/** The files of a document that are read, within the limits and the allowed directories. */
export class DocumentFiles {
  /** The document: its absolute path, or its URL. */
  readonly root: string
  readonly sources = new Map<string, Source | undefined>()
  /** The examples that the bundler cannot write as values. */
  readonly binary = new Set<string>()
  readonly #within: string[] | undefined
  #size = 0

  constructor(path: string, within: string[] | undefined) {
    this.root = isUrl(path) ? path : resolve(path)
    this.#within = within?.flatMap((each) => [resolve(each), realpathSync(each)])
  }

  /**
   * Reads a file. What is no text, or an example that cannot be parsed, stays as it is. Throws a SourceError if the file
   * cannot be read, if it exceeds a limit, or if it is outside of the allowed directories.
   */
  async add(file: string, from?: Origin): Promise<void> {
    if (this.sources.has(file)) return
    if (this.sources.size >= sourceLimits.files)
      throw new SourceError(`${shownName(this.root)}: has more than ${sourceLimits.files} files; bundle it first`)
    if (from !== undefined) this.#rejectOutside(file, from)
    const read = isUrl(file) ? fetchDocument : readBytes
    const { bytes } = await read(file, sourceLimits.bytes - this.#size)
    this.#size += bytes.length
    const isParsed = from === undefined || ['.json', '.yaml', '.yml'].includes(extname(file))
    const text = textOf(bytes)
    this.sources.set(file, undefined)
    if (text === undefined) this.binary.add(file)
    if (text === undefined && isParsed && !from?.isExample)
      throw new SourceError(`${shownName(file)}: is not text in UTF-8; convert it`)
    if (text === undefined || !isParsed) return
    try {
      this.sources.set(file, parseSource(file, text, shownName(file)))
    } catch (error) {
      if (!from?.isExample) throw error
      this.binary.add(file)
    }
  }

  #rejectOutside(file: string, from: Origin): void {
    if (!this.isOutside(file) && !(isFile(file) && this.isOutside(realpathSync(file)))) return
    throw new SourceError(
      `${this.placeOf(from)}: refers to ${file}, which is outside of ${shownName(this.#within?.[0] as string)}; ` +
        'move the file there, or allow it with --include-outside',
    )
  }

  /** Returns whether a path is outside of the allowed directories. */
  isOutside = (file: string): boolean => this.#within?.every((each) => !isWithin(each, file)) === true

  valueOf = (file: string): object => this.sources.get(file)?.value as object

  /** Returns the place of a member for a message. */
  placeOf = ({ file, pointer }: Origin): string =>
    placeText(shownName(file), (this.sources.get(file) as Source).placeOf(keysOf(pointer)))
}
