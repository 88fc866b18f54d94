import { realpathSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { type FileStates, noFile, stateOf } from '../digests/file-state.ts'
import { keysOf } from '../document/json-pointer.ts'
import { FetchError, FetchLimitError, isUrl } from '../fetch/url-rules.ts'
import type { FetchedFiles } from './fetched-files.ts'
import { decodedText, isFile, isWithin, readBytes, shownName } from './file-text.ts'
import { isHolder } from './overlays/overlaid-value.ts'
import type { Overlays } from './overlays/overlays.ts'
import { parseSource, type Source } from './read-source.ts'
import { LimitError, placeText, SourceError } from './source-error.ts'

/** The limits of a document. `bytes` counts all its files. */
export const sourceLimits = { bytes: 64 * 2 ** 20, files: 10_000 }

/** The member that refers to a file. `isText`: where a text may stand, so that the file may be one. */
export type Origin = { file: string; pointer: string; isExample?: boolean; isText?: boolean }

const isNamedAsData = (file: string): boolean => ['.json', '.yaml', '.yml'].includes(extname(file))

/** The files of a document that are read, within the limits and the allowed directories. */
export class DocumentFiles {
  /** The document: its absolute path, or its URL. */
  readonly root: string
  readonly sources = new Map<string, Source | undefined>()
  /** The texts of the files that are not parsed. */
  readonly texts = new Map<string, string>()
  /** The states of the files that were read, and of the paths where references would find a file. */
  readonly states: FileStates = new Map()
  /** Why files to which references lead cannot be read. */
  readonly failures = new Map<string, string>()
  /** The files that are fetched if the document is named by a URL. */
  readonly fetched: FetchedFiles | undefined
  /** The overlays of the document, which apply to each file when it is read. */
  overlays: Overlays | undefined
  readonly #within: string[] | undefined
  #size = 0

  constructor(path: string, within?: string[], fetched?: FetchedFiles) {
    this.fetched = fetched
    this.root = isUrl(path) ? path : resolve(path)
    this.#within = within?.flatMap((each) => [resolve(each), realpathSync(each)])
  }

  /**
   * Reads a file. Throws a SourceError if it exceeds a limit, if it is outside of the allowed directories, or if it is
   * the document itself and cannot be read. Another file that cannot be read is one of `failures`.
   */
  async add(file: string, from?: Origin): Promise<void> {
    if (this.sources.has(file) || this.failures.has(file)) return
    if (this.sources.size >= sourceLimits.files)
      throw new LimitError(`${shownName(this.root)}: has more than ${sourceLimits.files} files; bundle it first`)
    if (from !== undefined) this.#rejectOutside(file, from)
    try {
      await this.#read(file, from)
    } catch (error) {
      const isOptional = from?.isExample || this.fetched === undefined
      if (from === undefined || !isOptional || !(error instanceof SourceError) || error instanceof LimitError)
        throw error
      this.failures.set(file, error.message)
      if (!this.states.has(file)) this.states.set(file, noFile)
    }
  }

  async #read(file: string, from: Origin | undefined): Promise<void> {
    const bytes = this.fetched
      ? await this.#fetch(this.fetched, file, from)
      : await readBytes(file, sourceLimits.bytes - this.#size)
    this.#size += bytes.length
    this.states.set(file, stateOf(bytes))
    this.sources.set(file, undefined)
    const text = decodedText(bytes)
    if (text === undefined) throw new SourceError(`${shownName(file)}: is not text in UTF-8; convert it`)
    if (from !== undefined && !isNamedAsData(file) && (from.isExample || from.isText)) this.texts.set(file, text)
    else this.sources.set(file, this.#overlaid(parseSource(file, text, shownName(file))))
  }

  #overlaid(source: Source): Source {
    return isHolder(source.value) ? (this.overlays?.applied(source) ?? source) : source
  }

  /** Fetches a file. Only the file of an example may be missing: the document is incomplete without any other. */
  async #fetch(fetched: FetchedFiles, file: string, from: Origin | undefined): Promise<Uint8Array> {
    try {
      return await fetched.read(file)
    } catch (error) {
      if (!(error instanceof FetchError) || from === undefined) throw error
      const message = `${this.placeOf(from)}: refers to ${error.message}`
      // The copy of the document would refer to a file of this machine.
      const isLocal = file.startsWith('file:')
      const isOptional = from.isExample && !isLocal && !(error instanceof FetchLimitError)
      throw isOptional ? new SourceError(message) : new LimitError(message)
    }
  }

  #rejectOutside(file: string, from: Origin): void {
    if (!this.isOutside(file) && !(isFile(file) && this.isOutside(realpathSync(file)))) return
    throw new LimitError(
      `${this.placeOf(from)}: refers to ${file}, which is outside of ${shownName(this.#within?.[0] as string)}; ` +
        'move the file there, or allow it with --include-outside',
    )
  }

  /** Returns whether a path leads to a file, which is read then. */
  isFile = (path: string): boolean => {
    const isThere = isFile(path)
    if (!isThere) this.states.set(path, noFile)
    return isThere
  }

  /** Returns whether a path is outside of the allowed directories. */
  isOutside = (file: string): boolean => this.#within?.every((each) => !isWithin(each, file)) === true

  valueOf = (file: string): object => this.sources.get(file)?.value as object

  /** Returns the place of a member for a message. */
  placeOf = ({ file, pointer }: Origin): string =>
    placeText(shownName(file), (this.sources.get(file) as Source).placeOf(keysOf(pointer)))
}
