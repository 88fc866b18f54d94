import { posix } from 'node:path'
import { keysOf } from '../document/json-pointer.ts'
import type { UrlReader } from '../fetch/url-reader.ts'
import { decodedText, pathTo } from './file-text.ts'
import type { Source } from './read-source.ts'
import { location } from './reference-targets.ts'

/** A reference to another file, or to a schema by its identifier: its place, its text, and the URL of its target. */
type Link = { file: string; pointer: string; text: string; target: string }

/** A text that replaces a part of a file. */
type Change = { begin: number; end: number; text: string }

/** The files of a document that is named by a URL, and the references between them. */
export class FetchedFiles {
  /** The URL of the document after redirects. */
  readonly root: string
  readonly #reader: UrlReader
  readonly #bytes = new Map<string, Uint8Array>()
  /** The URLs after redirects. */
  readonly #bases = new Map<string, string>()
  readonly #links = new Map<string, Link>()

  private constructor(reader: UrlReader, root: string, bytes: Uint8Array) {
    this.#reader = reader
    this.root = root
    this.#bytes.set(root, bytes)
  }

  /** Fetches the document itself. Throws a FetchError. */
  static async of(reader: UrlReader, url: string): Promise<FetchedFiles> {
    const fetched = await reader.readDocument(url)
    return new FetchedFiles(reader, fetched.url, fetched.bytes)
  }

  /** Returns the bytes of a file, which is fetched once. Throws a FetchError. */
  async read(url: string): Promise<Uint8Array> {
    const known = this.#bytes.get(url)
    if (known !== undefined) return known
    const fetched = await this.#reader.read(url)
    this.#bytes.set(url, fetched.bytes)
    this.#bases.set(url, fetched.url)
    return fetched.bytes
  }

  /** Returns the URL to which the references of a file are relative. */
  baseOf = (url: string): string => this.#bases.get(url) ?? url

  /** Remembers the target of a reference. */
  link(link: Link): void {
    this.#links.set(location(link.file, link.pointer), link)
  }

  /**
   * Returns the files by their paths in `paths`. A reference stays as it is if it leads to its target there, too. Any other
   * one becomes a relative path, or the URL of a target that is none of the files.
   *
   * @param sources The parsed files, by URL.
   */
  copies(paths: Map<string, string>, sources: Map<string, Source | undefined>): Map<string, Uint8Array> {
    const changes = new Map<string, Change[]>()
    for (const link of this.#links.values()) {
      const text = copiedReference(link, paths)
      const [begin, end] = (text !== undefined && sources.get(link.file)?.rangeOf(keysOf(link.pointer))) || []
      if (text === undefined || begin === undefined || end === undefined) continue
      changes.set(link.file, [...(changes.get(link.file) ?? []), { begin, end, text }])
    }
    const copied = Array.from(paths, ([url, path]): [string, Uint8Array] => {
      const bytes = this.#bytes.get(url) as Uint8Array
      const own = changes.get(url)
      return [path, own === undefined ? bytes : Buffer.from(changedText(decodedText(bytes) as string, own))]
    })
    return new Map(copied)
  }
}

/** Returns the text of a reference between copies; undefined if it may stay as it is. */
function copiedReference({ file, text, target }: Link, paths: Map<string, string>): string | undefined {
  const [uri = '', ...rest] = text.split('#')
  const fragment = ['', ...rest].join('#')
  const isPath = !/^[a-z][a-z\d+.-]*:|^\/|\\/i.test(uri)
  const from = paths.get(file) as string
  const to = paths.get(target)
  if (to === undefined) return isPath ? `${target}${fragment}` : undefined
  // A path that leaves the directory and comes back would depend on the names of directories above.
  if (isPath && posix.join(posix.dirname(from), uri) === to) return undefined
  return `${pathTo(from, to)}${fragment}`
}

function changedText(given: string, changes: Change[]): string {
  let result = given
  let last = given.length + 1
  for (const { begin, end, text } of changes.sort((one, other) => other.begin - one.begin)) {
    // Several aliases stand for one text.
    if (begin === last) continue
    last = begin
    // The text of a block scalar has the end of its line.
    const after = given[end - 1] === '\n' ? '\n' : ''
    result = `${result.slice(0, begin)}${JSON.stringify(text)}${after}${result.slice(end)}`
  }
  return result
}
