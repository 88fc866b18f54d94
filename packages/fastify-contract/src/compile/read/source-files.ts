import { realpath } from 'node:fs/promises'
import { dirname, extname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { decoded, join, keysOf, resolve as valueAt } from '../document/json-pointer.ts'
import { isNode } from '../document/walk-document.ts'
import { isWithin, pathTo, readBytes, shownName, statOf, textOf } from './file-text.ts'
import { fetchDocument, isUrl } from './named-url.ts'
import { parseSource, placeText, type Source, SourceError } from './read-source.ts'
import {
  type Expected,
  type Reference,
  type ReferenceVisitor,
  type Resource,
  resolvedUri,
  walkReferences,
} from './reference-walk.ts'
import { type Edits, isWalked, noEdits } from './source-copies.ts'

/** The limits of a document. `bytes` counts all its files. */
export const sourceLimits = { bytes: 64 * 2 ** 20, files: 10_000 }

/** The files of a document. */
export type Sources = {
  /** The document, as it was named. */
  path: string
  /** Its files by their absolute paths, the document first; undefined for an example that is neither JSON nor YAML. */
  files: Map<string, Source | undefined>
  edits: Map<string, Edits>
  /** The references: what `location` returns for an object with a $ref, and the location of its target. */
  targets: Map<string, { file: string; pointer: string }>
  /** Whether the document is one file in which each reference is one of an object, to a location in it. */
  isWhole: boolean
  /** The references that nothing may follow. */
  problems: SourceProblem[]
}

/** A problem with a reference. `pointer` is its location in the first file, or that of the reference to its file. */
export type SourceProblem = { pointer: string; text: string; place: string }

/** Returns the key of a location. */
export const location = (file: string, pointer: string): string => `${file}\n${pointer}`

/** How the files of a document are read. */
export type ReadOptions = {
  /** The directories that the files must be in. */
  within?: string[]
}

/** A part of a file to walk. `from`: its location in the first file, or that of the reference that leads to it. */
type Visit = { file: string; pointer: string; expected: Expected; from: string }

/**
 * Reads a document and the files to which its references, the mappings of its discriminators and its external examples
 * lead. References are found in the parsed files, where OpenAPI has them (reference-walk.ts). Nothing is fetched, unless
 * `path` is itself a URL. Throws a SourceError if a file cannot be read, if a limit is exceeded, or if a reference leads
 * out of the directories of `within`. A reference without a target is left to the linter.
 */
export async function readSources(path: string, { within }: ReadOptions = {}): Promise<Sources> {
  const root = isUrl(path) ? path : resolve(path)
  const sources: Sources = { path, files: new Map(), edits: new Map(), targets: new Map(), isWhole: true, problems: [] }
  const roots = within && (await Promise.all(within.map(async (each) => [resolve(each), await realpath(each)]))).flat()
  let size = 0
  /** The examples that the bundler cannot write as values. */
  const binary = new Set<string>()
  /** The resources of schemas and of files, and their anchors, by URI. */
  const identified = new Map<string, { file: string; pointer: string }>()
  const visits: Visit[] = []
  /** References that no file is known for yet: one that is read later may have a schema with that $id. */
  let waiting: { visit: Visit; found: Reference }[] = []
  const seen = new Set<string>()

  /** Reads a file. What is no text, or an example that cannot be parsed, stays as it is. */
  async function add(file: string, from?: { visit: Visit; pointer: string; isExample?: boolean }): Promise<void> {
    if (sources.files.has(file)) return
    if (sources.files.size >= sourceLimits.files)
      throw new SourceError(`${path}: has more than ${sourceLimits.files} files; bundle it first`)
    if (from !== undefined && roots !== undefined) await rejectOutside(file, from)
    const read = isUrl(file) ? fetchDocument : readBytes
    const { bytes } = await read(file, sourceLimits.bytes - size)
    size += bytes.length
    const isParsed = from === undefined || ['.json', '.yaml', '.yml'].includes(extname(file))
    const text = textOf(bytes)
    sources.files.set(file, undefined)
    sources.edits.set(file, noEdits())
    if (text === undefined) binary.add(file)
    if (text === undefined && isParsed && !from?.isExample)
      throw new SourceError(`${shownName(file)}: is not text in UTF-8; convert it`)
    if (text === undefined || !isParsed) return
    try {
      sources.files.set(file, parseSource(file, text, shownName(file)))
    } catch (error) {
      if (!from?.isExample) throw error
      binary.add(file)
    }
  }

  async function rejectOutside(file: string, { visit, pointer }: { visit: Visit; pointer: string }): Promise<void> {
    const isIn = (each: string) => (roots as string[]).some((root) => isWithin(root, each))
    const isAllowed = isIn(file) && (isFile(file) ? isIn(await realpath(file)) : true)
    if (isAllowed) return
    throw new SourceError(
      `${placeOf(visit.file, pointer)}: refers to ${file}, which is outside of ${shownName(within?.[0] as string)}; ` +
        'move the file there, or allow it with --include-outside',
    )
  }

  const placeOf = (file: string, pointer: string): string =>
    placeText(shownName(file), (sources.files.get(file) as Source).placeOf(keysOf(pointer)))

  const baseOf = (file: string): string => (isUrl(file) ? file : pathToFileURL(file).href)

  /** Returns the URI of the first file: its $self (OpenAPI 3.2 section 4.1.1), or else its own. */
  function selfOf(value: unknown): string {
    const { $self } = Object(value) as { $self?: unknown }
    return (typeof $self === 'string' ? resolvedUri($self, baseOf(root)) : undefined) ?? baseOf(root)
  }

  function visitorOf(visit: Visit): { visitor: ReferenceVisitor; references: Reference[]; examples: Reference[] } {
    const { file } = visit
    const edits = sources.edits.get(file) as Edits
    const references: Reference[] = []
    const examples: Reference[] = []
    const visitor: ReferenceVisitor = {
      reference(found) {
        references.push(found)
        edits.references.add(found.pointer)
      },
      external: (pointer, text) =>
        examples.push({ pointer, text, expected: 'data', resource: resourceOf(file), isMapping: false }),
      data: (pointer) => edits.data.add(pointer),
      schema({ $id, $anchor, $schema }, pointer, resource) {
        const place = { file, pointer }
        if (typeof $id === 'string' && resource.pointer === pointer) {
          identified.set(resource.uri, place)
          edits.dropped.add(join(pointer, '$id'))
        }
        if (typeof $anchor === 'string') {
          identified.set(`${resource.uri}#${$anchor}`, place)
          edits.dropped.add(join(pointer, '$anchor'))
        }
        if (typeof $schema === 'string' && dialects.has($schema.replace(/#$/, '')))
          edits.dropped.add(join(pointer, '$schema'))
      },
    }
    return { visitor, references, examples }
  }

  const resourceOf = (file: string): Resource => ({ uri: file === root ? self : baseOf(file), pointer: '#' })

  /** Walks a part of a file, adds the files that it refers to, and the parts of them to walk. */
  async function walk(visit: Visit): Promise<void> {
    const source = sources.files.get(visit.file)
    const key = `${location(visit.file, visit.pointer)} ${JSON.stringify(visit.expected)}`
    if (source === undefined || seen.has(key)) return
    seen.add(key)
    const value = valueAt(source.value as object, visit.pointer)
    const { visitor, references, examples } = visitorOf(visit)
    walkReferences(value, visit.expected, visit.pointer, resourceOf(visit.file), visitor)
    for (const found of examples) await addExample(visit, found)
    for (const found of references) if (!(await follow(visit, found))) waiting.push({ visit, found })
  }

  /** Adds the file of an external example; leaves the member as it is for any other URI, which is never fetched. */
  async function addExample(visit: Visit, { pointer, text, resource }: Reference): Promise<void> {
    const { data, texts } = sources.edits.get(visit.file) as Edits
    const target = text.startsWith('#') ? undefined : fileOf(visit.file, text, resource)
    if (target === undefined) {
      data.add(pointer)
      return
    }
    sources.isWhole = false
    await add(target.file, { visit, pointer, isExample: true })
    if (binary.has(target.file)) data.add(pointer)
    if (!target.isAsWritten) texts.set(pointer, pathTo(visit.file, target.file))
    visits.push({ file: target.file, pointer: '#', expected: 'data', from: fromOf(visit, pointer) })
  }

  const fromOf = ({ file, from }: Visit, pointer: string): string =>
    file === root ? pointer.slice(0, pointer.lastIndexOf('/')) : from

  /** Follows a reference, and returns whether it has a target. */
  async function follow(visit: Visit, found: Reference): Promise<boolean> {
    const { pointer, expected, isMapping } = found
    if (isMapping && isSchemaName(found.text)) return true
    sources.isWhole &&= found.text.startsWith('#') && typeof expected !== 'string' && expected.shape === 'one'
    const target = await targetOf(visit, found)
    if (target === undefined) return false
    const edits = sources.edits.get(visit.file) as Edits
    if (!target.isAsWritten) {
      const path = target.file === visit.file ? '' : pathTo(visit.file, target.file)
      edits.texts.set(pointer, target.pointer === '#' && path !== '' ? path : `${path}${target.pointer}`)
    }
    if (!isMapping) sources.targets.set(location(visit.file, pointer.slice(0, pointer.lastIndexOf('/'))), target)
    // The first visit walks the whole document.
    if (target.file !== root || !isWalked(target.pointer, expected))
      visits.push({ ...target, expected, from: fromOf(visit, pointer) })
    return true
  }

  const isSchemaName = (text: string): boolean =>
    valueAt((sources.files.get(root) as Source).value as object, join('#', 'components', 'schemas', text)) !== undefined

  type Target = { file: string; pointer: string; isAsWritten: boolean }

  async function targetOf(
    visit: Visit,
    { text, resource, isMapping, pointer: at }: Reference,
  ): Promise<Target | undefined> {
    const [uri = '', fragment] = splitFragment(text)
    if (uri === '') return inResource(visit.file, fragment ?? '', resource)
    const file = fileOf(visit.file, uri, resource)
    if (file !== undefined) {
      await add(file.file, { visit, pointer: at })
      const found = inFile(file.file, fragment ?? '')
      if (found === undefined) return undefined
      const isSeen = !isMapping || uri.includes('/')
      return { file: file.file, pointer: found.pointer, isAsWritten: file.isAsWritten && found.isAsWritten && isSeen }
    }
    const absolute = resolvedUri(uri, resource.uri)
    const schema = absolute === undefined ? undefined : identified.get(absolute)
    if (schema === undefined) return undefined
    const pointer = pointerIn(schema.file, { uri: absolute as string, pointer: schema.pointer }, fragment ?? '')
    return pointer === undefined ? undefined : { file: schema.file, pointer, isAsWritten: false }
  }

  /** Returns the target of a fragment of the resource that a reference stands in, or else of its file. */
  function inResource(file: string, fragment: string, resource: Resource): Target | undefined {
    const own = pointerIn(file, resource, fragment)
    if (own !== undefined && resource.pointer !== '#') return { file, pointer: own, isAsWritten: false }
    const found = inFile(file, fragment)
    return found && { file, ...found }
  }

  /** Returns the pointer to a fragment of a file: a JSON pointer or an anchor. */
  function inFile(file: string, fragment: string): { pointer: string; isAsWritten: boolean } | undefined {
    if (fragment === '' || fragment.startsWith('/'))
      return { pointer: join('#', ...keysOf(`#${fragment}`)), isAsWritten: true }
    const root = sources.files.get(file)
    const { $id } = Object(root?.value) as { $id?: unknown }
    const base = resourceOf(file).uri
    const uri = (typeof $id === 'string' ? resolvedUri($id, base) : undefined) ?? base
    const place = identified.get(`${uri}#${decoded(fragment)}`)
    return place && { pointer: place.pointer, isAsWritten: false }
  }

  /** Returns the pointer to a fragment of a resource in its file; undefined if there is no such value. */
  function pointerIn(file: string, { uri, pointer }: Resource, fragment: string): string | undefined {
    if (fragment !== '' && !fragment.startsWith('/')) return identified.get(`${uri}#${decoded(fragment)}`)?.pointer
    const whole = join(pointer, ...keysOf(`#${fragment}`))
    const { value } = sources.files.get(file) as Source
    return valueAt(value as object, whole) === undefined ? undefined : whole
  }

  /** Returns the file that a reference names: by its path, as Redocly takes it, or by its URI. */
  function fileOf(file: string, uri: string, resource: Resource): { file: string; isAsWritten: boolean } | undefined {
    if (isUrl(file) || /^[\\/]{2}/.test(uri)) return undefined
    const isPath = !/^[a-z][a-z\d+.-]*:/i.test(uri)
    const written = resolve(dirname(file), uri)
    // A copy for Redocly has its own files at other absolute paths.
    if (isPath && isFile(written)) return { file: written, isAsWritten: !isAbsolute(uri) }
    const absolute = resolvedUri(uri, resource.uri)
    const candidates = [
      ...(absolute === undefined || identified.has(absolute) ? [] : [pathOf(absolute)]),
      ...(isPath ? [resolve(dirname(file), decoded(uri))] : []),
    ]
    const found = candidates.find((each) => each !== undefined && isFile(each))
    if (found !== undefined) return { file: found, isAsWritten: false }
    // A file that may not be read is named before anybody learns whether it exists.
    return roots !== undefined && isPath && !identified.has(absolute ?? '') && isOutside(written)
      ? { file: written, isAsWritten: true }
      : undefined
  }

  const isOutside = (file: string): boolean => !(roots as string[]).some((each) => isWithin(each, file))

  /** Returns the path of a file with a URI: a file URL, or one below the directory of $self. */
  function pathOf(uri: string): string | undefined {
    if (uri === self) return root
    const directory = new URL('.', self).href
    if (!self.startsWith('file:') && uri.startsWith(directory))
      return resolve(dirname(root), decoded(uri.slice(directory.length)))
    try {
      return uri.startsWith('file:') ? fileURLToPath(uri) : undefined
    } catch {
      // A file URL of another host, or with an encoded slash.
      return undefined
    }
  }

  await add(root)
  const self = selfOf((sources.files.get(root) as Source).value)
  if (!isNode((sources.files.get(root) as Source).value)) return sources
  visits.push({ file: root, pointer: '#', expected: { shape: 'one', kind: 'document' }, from: '#' })
  for (let isAdded = true; isAdded; ) {
    isAdded = false
    // Iteration over an array includes the elements that are added meanwhile.
    for (const visit of visits) await walk(visit)
    visits.length = 0
    const tried = waiting
    waiting = []
    for (const { visit, found } of tried) {
      if (await follow(visit, found)) isAdded = true
      else waiting.push({ visit, found })
    }
  }
  for (const { visit, found } of waiting) {
    const { text, pointer } = found
    if (!/^(?:https?:|[\\/]{2})/i.test(text)) continue
    const problem = `${text} is a URL, and nothing is fetched; download it beside the document, and refer to the file`
    sources.problems.push({ pointer: fromOf(visit, pointer), text: problem, place: placeOf(visit.file, pointer) })
  }
  // What a reference leads to is no data, wherever it stands.
  for (const { data, references } of sources.edits.values()) for (const pointer of references) data.delete(pointer)
  return sources
}

/** The URIs of the dialect that OpenAPI 3.1 assumes for schemas (section 4.8.24.5), and of JSON Schema 2020-12. */
const dialects = new Set([
  'https://json-schema.org/draft/2020-12/schema',
  'https://spec.openapis.org/oas/3.1/dialect/base',
  'https://spec.openapis.org/oas/3.1/dialect/2024-11-10',
  'https://spec.openapis.org/oas/3.2/dialect/2025-09-17',
])

const isFile = (path: string): boolean => statOf(path)?.isFile() === true

const splitFragment = (text: string): [uri: string, fragment?: string] => {
  const at = text.indexOf('#')
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
