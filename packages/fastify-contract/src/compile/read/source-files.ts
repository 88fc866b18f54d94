import { join, resolve as valueAt } from '../document/json-pointer.ts'
import { isNode } from '../document/walk-document.ts'
import { DocumentFiles } from './document-files.ts'
import { pathTo, shownName } from './file-text.ts'
import { type Source, SourceError, withinStack } from './read-source.ts'
import { type Location, location, ReferenceTargets } from './reference-targets.ts'
import { type Expected, idOf, type Reference, type ReferenceVisitor, walkReferences } from './reference-walk.ts'
import { SchemaResources } from './schema-resources.ts'
import { type Edits, isWalked, noEdits } from './source-copies.ts'

/** The files of a document. */
export type Sources = {
  /** The document, as it was named. */
  path: string
  /** Its files by their absolute paths, the document first; undefined for an example that is neither JSON nor YAML. */
  files: Map<string, Source | undefined>
  edits: Map<string, Edits>
  /** The references: what `location` returns for an object with a $ref, and the location of its target. */
  targets: Map<string, Location>
  /** Whether the document is one file in which each reference is one of an object, to a location in it. */
  isWhole: boolean
  /** The references that nothing may follow. */
  problems: SourceProblem[]
  /** What was assumed about schemas. */
  warnings: SourceProblem[]
  /** What precedes the names of members for document/dynamic-references.ts, if there are dynamic references. */
  dynamicMark: string | undefined
}

/** A problem with a reference. `pointer` is its location in the first file, or that of the reference to its file. */
export type SourceProblem = { pointer: string; text: string; place: string }

/** A part of a file to walk. `from`: its location in the first file, or that of the reference that leads to it. */
type Visit = Location & { expected: Expected; from: string }

/**
 * Reads a document and the files to which its references, the mappings of its discriminators and its external examples
 * lead. References are found in the parsed files, where OpenAPI has them (reference-walk.ts). Nothing is fetched, unless
 * `path` is itself a URL. Throws a SourceError if a file cannot be read, if a limit is exceeded, or if a reference leads
 * out of the directories `within`. A reference without a target is left to the linter.
 */
export async function readSources(path: string, within?: string[]): Promise<Sources> {
  const files = new DocumentFiles(path, within)
  await files.add(files.root)
  if (!isNode(files.valueOf(files.root)))
    throw new SourceError(`${shownName(files.root)}: is no object of JSON or YAML; name an OpenAPI document`)
  return await new DocumentWalk(path, files).run()
}

/** The walk through the files of a document, whose first file is read. */
class DocumentWalk {
  readonly #files: DocumentFiles
  readonly #sources: Sources
  readonly #targets: ReferenceTargets
  readonly #schemas = new SchemaResources()
  readonly #visits: Visit[] = []
  readonly #seen = new Set<string>()
  /** References without a target so far: a file that is read later may hold a schema with that $id. */
  #waiting: { visit: Visit; found: Reference }[] = []

  constructor(path: string, files: DocumentFiles) {
    this.#files = files
    this.#targets = new ReferenceTargets(files)
    const { sources } = files
    this.#sources = {
      path,
      files: sources,
      edits: new Map(),
      targets: new Map(),
      isWhole: true,
      problems: [],
      warnings: [],
      dynamicMark: undefined,
    }
  }

  async run(): Promise<Sources> {
    const { root } = this.#files
    this.#visits.push({ file: root, pointer: '#', expected: { shape: 'one', kind: 'document' }, from: '#' })
    for (let isAdded = true; isAdded; ) {
      // Iteration over an array includes the elements that are added meanwhile.
      for (const visit of this.#visits) await this.#walk(visit)
      this.#visits.length = 0
      const tried = this.#waiting
      this.#waiting = []
      for (const { visit, found } of tried) await this.#follow(visit, found)
      isAdded = this.#waiting.length < tried.length
    }
    for (const { visit, found } of this.#waiting) this.#report(visit, found)
    for (const file of this.#files.sources.keys()) {
      // What a reference leads to is no data, wherever it stands.
      const { data, references } = this.#editsOf(file)
      for (const pointer of references) data.delete(pointer)
    }
    const { edits } = this.#sources
    const translations = this.#schemas.translate(this.#files, edits)
    const { mark, warnings = [] } = this.#schemas.markDynamic(this.#files, edits) ?? {}
    return { ...this.#sources, warnings: [...translations, ...warnings], dynamicMark: mark }
  }

  #editsOf(file: string): Edits {
    const edits = this.#sources.edits.get(file) ?? noEdits()
    this.#sources.edits.set(file, edits)
    return edits
  }

  /** Walks a part of a file, adds the files that it refers to, and the parts of them to walk. */
  async #walk(visit: Visit): Promise<void> {
    const { file, pointer, expected } = visit
    const source = this.#files.sources.get(file)
    const key = `${location(file, pointer)} ${JSON.stringify(expected)}`
    if (source === undefined || this.#seen.has(key)) return
    this.#seen.add(key)
    const references: Reference[] = []
    const examples: Reference[] = []
    const resource = this.#targets.resourceOf(file)
    const value = valueAt(source.value as object, pointer)
    const visitor = this.#visitor(visit, references, examples)
    withinStack(shownName(file), () => walkReferences(value, expected, pointer, resource, visitor))
    for (const found of examples) await this.#addExample(visit, found)
    for (const found of references) await this.#follow(visit, found)
  }

  #visitor(visit: Visit, references: Reference[], examples: Reference[]): ReferenceVisitor {
    const { file } = visit
    const edits = this.#editsOf(file)
    return {
      reference(found) {
        references.push(found)
        edits.references.add(found.pointer)
      },
      external: (pointer, text) =>
        examples.push({ pointer, text, expected: 'data', resource: this.#targets.resourceOf(file), isMapping: false }),
      data: (pointer) => edits.data.add(pointer),
      schema: (schema, pointer, resource) => {
        this.#schemas.add({ file, pointer, schema, from: this.#fromOf(visit, join(pointer, '$schema')) })
        const isIdentified = idOf(schema) !== undefined && resource.pointer === pointer
        if (isIdentified) this.#targets.identify(resource.uri, { file, pointer })
        for (const keyword of ['$anchor', '$dynamicAnchor']) {
          if (typeof schema[keyword] !== 'string') continue
          this.#targets.identify(`${resource.uri}#${schema[keyword]}`, { file, pointer })
          edits.dropped.add(join(pointer, keyword))
        }
        if (isIdentified) edits.dropped.add(join(pointer, typeof schema.$id === 'string' ? '$id' : 'id'))
      },
    }
  }

  /** Adds the file of an external example; leaves the member as it is for any other URI, which is never fetched. */
  async #addExample(visit: Visit, { pointer, text, resource }: Reference): Promise<void> {
    const { data, texts } = this.#editsOf(visit.file)
    const target = text.startsWith('#') ? undefined : this.#targets.fileOf(visit.file, text, resource)
    if (target === undefined) {
      data.add(pointer)
      return
    }
    this.#sources.isWhole = false
    await this.#files.add(target.file, { file: visit.file, pointer, isExample: true })
    if (this.#files.binary.has(target.file)) data.add(pointer)
    if (!target.isAsWritten) texts.set(pointer, pathTo(visit.file, target.file))
    this.#visits.push({ file: target.file, pointer: '#', expected: 'data', from: this.#fromOf(visit, pointer) })
  }

  #fromOf({ file, from }: Visit, pointer: string): string {
    return file === this.#files.root ? holderOf(pointer) : from
  }

  /** Follows a reference, or lets it wait. */
  async #follow(visit: Visit, found: Reference): Promise<void> {
    const { pointer, text, expected, isMapping } = found
    if (isMapping && this.#isSchemaName(text)) return
    this.#sources.isWhole &&= text.startsWith('#') && typeof expected !== 'string' && expected.shape === 'one'
    const target = await this.#targets.targetOf(visit.file, found)
    if (target === undefined) {
      this.#waiting.push({ visit, found })
      return
    }
    if (!target.isAsWritten) {
      const path = target.file === visit.file ? '' : pathTo(visit.file, target.file)
      const written = target.pointer === '#' && path !== '' ? path : `${path}${target.pointer}`
      this.#editsOf(visit.file).texts.set(pointer, written)
    }
    this.#schemas.setTarget(visit.file, pointer, target)
    if (!isMapping) this.#sources.targets.set(location(visit.file, holderOf(pointer)), target)
    // The first visit walks the whole document.
    if (target.file !== this.#files.root || !isWalked(target.pointer, expected))
      this.#visits.push({ ...target, expected, from: this.#fromOf(visit, pointer) })
  }

  #isSchemaName(text: string): boolean {
    const { root } = this.#files
    return valueAt(this.#files.valueOf(root), join('#', 'components', 'schemas', text)) !== undefined
  }

  /** Reports a reference without a target if it is a URL, which Redocly would fetch. */
  #report(visit: Visit, { text, pointer }: Reference): void {
    if (!/^(?:https?:|data:|[\\/]{2})/i.test(text)) return
    this.#sources.problems.push({
      pointer: this.#fromOf(visit, pointer),
      text: `${text} is a URL, and nothing is fetched; download it beside the document, and refer to the file`,
      place: this.#files.placeOf({ file: visit.file, pointer }),
    })
  }
}

const holderOf = (pointer: string): string => pointer.slice(0, pointer.lastIndexOf('/'))
