import { dirname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { decoded, join, keysOf, resolve as valueAt } from '../document/json-pointer.ts'
import type { Node } from '../document/walk-document.ts'
import { isUrl } from '../fetch/url-rules.ts'
import type { DocumentFiles } from './document-files.ts'
import type { FetchedFiles } from './fetched-files.ts'
import { shownName } from './file-text.ts'
import { type Resource, resolvedUri } from './reference-walk.ts'

export type Location = { file: string; pointer: string }

/** Returns the key of a location. */
export const location = (file: string, pointer: string): string => `${file}\n${pointer}`

/** A reference as it is written. `isText`: a text may be its target. */
export type Written = { text: string; resource: Resource; pointer: string; isText?: boolean }

/** A target. `isAsWritten`: it is found by the text of the reference alone. */
export type Target = Location & { isAsWritten: boolean }

/** The greatest number of references that one pointer passes through. */
const passedLimit = 100

/** Resolves the references of a document, and reads the files that they lead to. */
export class ReferenceTargets {
  readonly #files: DocumentFiles
  /** The resources of schemas and of files, and their anchors, by URI. */
  readonly #identified = new Map<string, Location>()
  /** The URI of the first file: its $self (OpenAPI 3.2 section 4.1.1), or else its own. */
  readonly #self: string

  /** @param files The files of a document whose first one is read. */
  constructor(files: DocumentFiles) {
    this.#files = files
    const own = uriOf(files.root)
    const { $self } = Object(files.valueOf(files.root)) as { $self?: unknown }
    this.#self = (typeof $self === 'string' ? resolvedUri($self, own) : undefined) ?? own
  }

  identify(uri: string, location: Location): void {
    this.#identified.set(uri, location)
  }

  /** Returns the resource of the root of a file. */
  resourceOf(file: string): Resource {
    return { uri: file === this.#files.root ? this.#self : uriOf(file), pointer: '#' }
  }

  /**
   * Returns the target of a reference in a file, or the reason why it has none; undefined if a schema that another file
   * holds may become its target.
   */
  async targetOf(file: string, given: Written, passed = 0): Promise<Target | string | undefined> {
    const { text, resource, pointer: at } = given
    const [uri = '', ...rest] = text.split('#')
    const fragment = rest.join('#')
    if (uri === '') {
      const own = resource.pointer === '#' ? undefined : this.#within(file, resource, fragment)
      return own ?? (await this.#inFile(file, fragment, passed))
    }
    const found = this.fileOf(file, uri, resource)
    if (found !== undefined) {
      this.#files.fetched?.link({ file, pointer: at, text, target: found.file })
      await this.#files.add(found.file, { file, pointer: at, isText: given.isText ?? false })
      const failure = this.#files.failures.get(found.file)
      if (failure !== undefined) return failure
      const place = await this.#inFile(found.file, fragment, passed)
      return typeof place === 'object' ? { ...place, isAsWritten: found.isAsWritten && place.isAsWritten } : place
    }
    const absolute = resolvedUri(uri, resource.uri)
    const schema = absolute === undefined ? undefined : this.#identified.get(absolute)
    if (schema === undefined) return undefined
    this.#files.fetched?.link({ file, pointer: at, text, target: absolute as string })
    return this.#within(schema.file, { uri: absolute as string, pointer: schema.pointer }, fragment)
  }

  /** Returns the target of a fragment of a file: a JSON pointer or an anchor. */
  async #inFile(file: string, fragment: string, passed: number): Promise<Target | string | undefined> {
    if (fragment === '' || fragment.startsWith('/')) return await this.#at(file, keysOf(`#${fragment}`), passed)
    const { $id } = Object(this.#files.sources.get(file)?.value) as { $id?: unknown }
    const { uri } = this.resourceOf(file)
    const base = (typeof $id === 'string' ? resolvedUri($id, uri) : undefined) ?? uri
    const place = this.#identified.get(`${base}#${decoded(fragment)}`)
    return place && { file, pointer: place.pointer, isAsWritten: false }
  }

  /** Returns the location at some keys of a file, which may pass through references: Redocly follows these, too. */
  async #at(file: string, keys: string[], passed: number): Promise<Target | string | undefined> {
    const whole = { file, pointer: join('#', ...keys), isAsWritten: true }
    if (keys.length === 0) return whole
    let value: unknown = this.#files.valueOf(file)
    for (const [index, key] of keys.entries()) {
      const { $ref } = Object(value) as { $ref?: unknown }
      if (!Object.hasOwn(Object(value), key) && typeof $ref === 'string' && passed < passedLimit) {
        const above = join('#', ...keys.slice(0, index), '$ref')
        const reference = { text: $ref, resource: this.resourceOf(file), pointer: above }
        const target = await this.targetOf(file, reference, passed + 1)
        if (typeof target !== 'object') return target
        const rest = [...keysOf(target.pointer), ...keys.slice(index)]
        const found = await this.#at(target.file, rest, passed + 1)
        return typeof found === 'object' ? { ...found, isAsWritten: false } : found
      }
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
        return `${shownName(file)} has no value at #/${keys.slice(0, index + 1).join('/')}`
      value = (value as Node)[key]
    }
    return whole
  }

  /** Returns the target of a fragment of a resource in a file; undefined if there is no such value. */
  #within(file: string, { uri, pointer }: Resource, fragment: string): Target | undefined {
    const isPointer = fragment === '' || fragment.startsWith('/')
    const whole = isPointer
      ? join(pointer, ...keysOf(`#${fragment}`))
      : this.#identified.get(`${uri}#${decoded(fragment)}`)?.pointer
    if (whole === undefined || (isPointer && valueAt(this.#files.valueOf(file), whole) === undefined)) return undefined
    return { file, pointer: whole, isAsWritten: false }
  }

  /** Returns the file that a reference names: by its path, as Redocly takes it, or by its URI. */
  fileOf(file: string, uri: string, resource: Resource): { file: string; isAsWritten: boolean } | undefined {
    if (isUrl(file)) return this.#urlOf(file, uri, resource)
    if (/^[\\/]{2}/.test(uri)) return undefined
    const isPath = !/^[a-z][a-z\d+.-]*:/i.test(uri)
    const written = resolve(dirname(file), uri)
    // A copy for Redocly has its own files at other absolute paths.
    if (isPath && this.#files.isFile(written)) return { file: written, isAsWritten: !isAbsolute(uri) }
    const absolute = resolvedUri(uri, resource.uri)
    const isIdentified = absolute !== undefined && this.#identified.has(absolute)
    const candidates = [
      ...(absolute === undefined || isIdentified ? [] : [this.#pathOf(absolute)]),
      ...(isPath ? [resolve(dirname(file), decoded(uri))] : []),
    ]
    const found = candidates.find((each) => each !== undefined && this.#files.isFile(each))
    if (found !== undefined) return { file: found, isAsWritten: false }
    // The message about a file outside of the directories must not reveal whether it exists.
    return isPath && !isIdentified && this.#files.isOutside(written) ? { file: written, isAsWritten: true } : undefined
  }

  /** Returns the URL that a reference in a fetched file names, unless a schema has it, or the text is a mere name. */
  #urlOf(file: string, uri: string, resource: Resource): { file: string; isAsWritten: boolean } | undefined {
    const absolute = resolvedUri(uri, resource.uri)
    const isName = !/[/\\:?]|\.(?:json|ya?ml)$/i.test(uri)
    if (isName || (absolute !== undefined && this.#identified.has(absolute))) return undefined
    const url = resolvedUri(uri, (this.#files.fetched as FetchedFiles).baseOf(file))
    return url === undefined ? undefined : { file: url, isAsWritten: true }
  }

  /** Returns the path of a file with a URI: a file URL, or one below the directory of $self. */
  #pathOf(uri: string): string | undefined {
    const { root } = this.#files
    if (uri === this.#self) return root
    const directory = new URL('.', this.#self).href
    if (!this.#self.startsWith('file:') && uri.startsWith(directory))
      return resolve(dirname(root), decoded(uri.slice(directory.length)))
    try {
      return uri.startsWith('file:') ? fileURLToPath(uri) : undefined
    } catch {
      // A file URL of another host, or with an encoded slash.
      return undefined
    }
  }
}

const uriOf = (file: string): string => (isUrl(file) ? file : pathToFileURL(file).href)
