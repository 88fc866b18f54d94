import { dirname, resolve } from 'node:path'
import type { FileStates } from '../digests/file-state.ts'
import { join, resolve as valueAt } from '../document/json-pointer.ts'
import { schemaPrefix } from '../document/shared-schemas.ts'
import { isNode } from '../document/walk-document.ts'
import { warning } from '../reports/reports.ts'
import { DocumentFiles } from './document-files.ts'
import type { FetchedFiles } from './fetched-files.ts'
import { isCopy, pathTo, shownName } from './file-text.ts'
import { meantPointer, nearPointer } from './meant-targets.ts'
import { type OverlayOptions, Overlays } from './overlays/overlays.ts'
import type { Source } from './read-source.ts'
import { type Location, location, ReferenceTargets, type Target } from './reference-targets.ts'
import { type Expected, idOf, type Reference, type ReferenceVisitor, walkReferences } from './reference-walk.ts'
import { isServedDialect } from './schema-dialects.ts'
import { SchemaResources } from './schema-resources.ts'
import { type Edits, isWalked, noEdits } from './source-copies.ts'
import { SourceError, withinStack } from './source-error.ts'

/** The files of a document. */
export type Sources = {
  /** The document, as it was named. */
  path: string
  /** Its files by their absolute paths, the document first; undefined for a file that is not parsed. */
  files: Map<string, Source | undefined>
  /** The texts of the files that are texts and not data, such as a description. */
  texts: Map<string, string>
  /** The states of these files, and of the paths where references would find a file. */
  states: FileStates
  /** What must change in each file before Redocly reads it. */
  edits: Map<string, Edits>
  /** The targets of references, by `location`: of the object with the $ref, or of the value of a mapping. */
  targets: Map<string, ReferenceTarget>
  /** The files of external examples, by `location` of the Example Object. */
  examples: Map<string, string>
  /** The references without a target, by `location` like the targets. */
  problems: Map<string, SourceProblem>
  /** A line for each schema that is read otherwise than its file says. */
  warnings: string[]
  /** What precedes the names of members for document/dynamic-references.ts, if there are dynamic references. */
  dynamicMark?: string | undefined
  /** Whether the values of files have translated schemas. */
  isTranslated: boolean
}

/** The target of a reference in a file, with what the reference expects there. */
export type ReferenceTarget = Location & { from: string; reference: Reference }

/** A reference without a target: where it is, what is wrong, and the fix. `isHidden`: Redocly must not follow it. */
export type SourceProblem = Location & { text: string; place: string; isHidden: boolean }

/** A part of a file to walk. */
type Visit = Location & { expected: Expected }

/**
 * Reads a document and the files to which its references, the mappings of its discriminators and its external examples
 * lead. References are found in the parsed files, where OpenAPI has them (reference-walk.ts). Nothing is fetched, unless
 * `path` is a URL, whose files `fetched` reads. A reference without a target is one of `problems`. Throws a SourceError if
 * the document itself cannot be read, if a limit is exceeded, or if a reference leads out of the directories `within`.
 * The overlays of the document are applied before its references are followed.
 */
export async function readSources(
  path: string,
  within?: string[],
  fetched?: FetchedFiles,
  overlaying: OverlayOptions = {},
): Promise<Sources> {
  const files = new DocumentFiles(path, within, fetched)
  files.overlays = await Overlays.read(files.root, overlaying, files.states)
  await files.add(files.root)
  if (!isNode(files.valueOf(files.root)))
    throw new SourceError(`${shownName(files.root)}: is no object of JSON or YAML; name an OpenAPI document`)
  const walk = new DocumentWalk(path, files)
  const sources = await walk.run()
  files.overlays.rejectUnused()
  sources.warnings.push(...files.overlays.warnings)
  const translation = walk.schemas.translate(files)
  if (translation === undefined) return sources
  // The translated values have other references.
  const translated = await new DocumentWalk(path, files).run()
  const warnings = [...translated.warnings, ...translation.warnings, ...files.overlays.warnings]
  return { ...translated, ...translation, warnings, isTranslated: true }
}

/** The walk through the files of a document, whose first file is read. */
class DocumentWalk {
  readonly schemas = new SchemaResources()
  readonly #files: DocumentFiles
  readonly #sources: Sources
  readonly #targets: ReferenceTargets
  readonly #visits: Visit[] = []
  readonly #seen = new Set<string>()
  /** References without a target so far: a file that is read later may hold a schema with that $id. */
  #waiting: { visit: Visit; found: Reference }[] = []

  constructor(path: string, files: DocumentFiles) {
    this.#files = files
    this.#targets = new ReferenceTargets(files)
    const { sources, texts, states } = files
    const maps = { edits: new Map(), targets: new Map(), examples: new Map(), problems: new Map() }
    this.#sources = { path, files: sources, texts, states, ...maps, warnings: [], isTranslated: false }
  }

  async run(): Promise<Sources> {
    this.#visits.push({ file: this.#files.root, pointer: '#', expected: { shape: 'one', kind: 'document' } })
    for (let isAdded = true; isAdded; ) {
      // Iteration over an array includes the elements that are added meanwhile.
      for (const visit of this.#visits) await this.#walk(visit)
      this.#visits.length = 0
      const tried = this.#waiting
      this.#waiting = []
      for (const { visit, found } of tried) await this.#follow(visit, found)
      isAdded = this.#waiting.length < tried.length
      if (!isAdded) isAdded = this.#settleWaiting()
    }
    this.#reportCycles()
    for (const file of this.#files.sources.keys()) {
      // What a reference leads to is no data, wherever it stands.
      const { data, references } = this.#editsOf(file)
      for (const pointer of references) data.delete(pointer)
    }
    // Redocly would fetch these, or follow them without end.
    for (const { file, pointer, isHidden } of this.#sources.problems.values())
      if (isHidden) this.#editsOf(file).data.add(pointer)
    return this.#sources
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
    const visitor = this.#visitor(file, references, examples)
    withinStack(shownName(file), () => walkReferences(value, expected, pointer, resource, visitor))
    for (const found of examples) await this.#addExample(visit, found)
    for (const found of references) await this.#follow(visit, found)
  }

  #visitor(file: string, references: Reference[], examples: Reference[]): ReferenceVisitor {
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
        this.schemas.add({ file, pointer, schema })
        const isIdentified = idOf(schema) !== undefined && resource.pointer === pointer
        if (isIdentified) this.#targets.identify(resource.uri, { file, pointer })
        for (const keyword of ['$anchor', '$dynamicAnchor']) {
          if (typeof schema[keyword] !== 'string') continue
          this.#targets.identify(`${resource.uri}#${schema[keyword]}`, { file, pointer })
          edits.dropped.add(join(pointer, keyword))
        }
        if (isIdentified) edits.dropped.add(join(pointer, typeof schema.$id === 'string' ? '$id' : 'id'))
        if (typeof schema.$schema === 'string' && isServedDialect(schema.$schema))
          edits.dropped.add(join(pointer, '$schema'))
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
    this.#files.fetched?.link({ file: visit.file, pointer, text, target: target.file })
    await this.#files.add(target.file, { file: visit.file, pointer, isExample: true })
    if (this.#files.failures.has(target.file)) {
      data.add(pointer)
      return
    }
    if (!target.isAsWritten) texts.set(pointer, pathTo(visit.file, target.file))
    this.#sources.examples.set(location(visit.file, holderOf(pointer)), target.file)
    this.#visits.push({ file: target.file, pointer: '#', expected: 'data' })
  }

  /** Follows a reference, reports it, or lets it wait. */
  async #follow(visit: Visit, found: Reference): Promise<void> {
    const { file } = visit
    const { text, expected, isMapping } = found
    if (isMapping && this.#isSchemaName(this.#files.root, text)) return
    // A file may name its own schemas, too.
    const written = isMapping && this.#isSchemaName(file, text) ? `${schemaPrefix}${text}` : text
    const target = await this.#targets.targetOf(file, { ...found, text: written, isText: expected === 'other' })
    if (target === undefined) {
      this.#waiting.push({ visit, found })
      return
    }
    const problem = typeof target === 'string' ? this.#missing(file, text, target) : this.#mismatch(target, expected)
    if (problem !== undefined) {
      if (!this.#followMeant(visit, found)) this.#report(file, found, problem)
      return
    }
    this.#settle(visit, found, target as Target)
  }

  /** Follows the references that wait for a schema which no file has; returns whether there is more to walk. */
  #settleWaiting(): boolean {
    const waiting = this.#waiting
    this.#waiting = []
    for (const { visit, found } of waiting)
      if (!this.#followMeant(visit, found)) this.#report(visit.file, found, this.#unknown(visit.file, found))
    return this.#visits.length > 0
  }

  /** Follows a reference without a target to the one component that it can mean; returns false if there is none. */
  #followMeant(visit: Visit, found: Reference): boolean {
    const { file } = visit
    const possible = [...new Set([file, this.#files.root])].flatMap((each) => {
      const pointer = meantPointer(found, Object(this.#files.valueOf(each)))
      return pointer === undefined ? [] : [{ file: each, pointer, isAsWritten: false }]
    })
    const [target, ...others] = possible
    if (target === undefined || others.length > 0 || this.#mismatch(target, found.expected) !== undefined) return false
    const shown = target.file === file ? target.pointer : `${pathTo(file, target.file)}${target.pointer}`
    const at = found.isMapping ? found.pointer : holderOf(found.pointer)
    const place = this.#files.placeOf({ file, pointer: found.pointer })
    this.#sources.warnings.push(
      warning(
        'meant-reference',
        at,
        `${found.text} does not resolve; read as ${shown}; correct the reference (${place})`,
      ),
    )
    this.#settle(visit, found, target)
    return true
  }

  /** Keeps the target of a reference, and queues the part of its file that is still to be walked. */
  #settle({ file }: Visit, found: Reference, target: Target): void {
    const { pointer, text, expected, isMapping } = found
    // Redocly takes a value of a mapping without a slash for the name of a schema.
    if (!target.isAsWritten || (isMapping && !text.includes('/'))) {
      const path = target.file === file ? '' : pathTo(file, target.file)
      const whole = target.pointer === '#' && path !== '' ? path : `${path}${target.pointer}`
      this.#editsOf(file).texts.set(pointer, whole)
    }
    if (pointer.endsWith(dynamicKey)) this.schemas.setTarget(file, pointer, target)
    const key = location(file, isMapping || pointer.endsWith(dynamicKey) ? pointer : holderOf(pointer))
    const known = this.#sources.targets.get(key)
    // The same object may be reached as an object of a kind and as a part of another one.
    if (known === undefined || known.reference.expected === 'other')
      this.#sources.targets.set(key, { file: target.file, pointer: target.pointer, from: file, reference: found })
    // The first visit walks the whole document.
    if (target.file !== this.#files.root || !isWalked(target.pointer, expected))
      this.#visits.push({ file: target.file, pointer: target.pointer, expected })
  }

  #isSchemaName(file: string, text: string): boolean {
    return valueAt(Object(this.#files.valueOf(file)), `${schemaPrefix}${join('', text).slice(1)}`) !== undefined
  }

  /** Returns why a target is not what a reference expects, unless it may be. */
  #mismatch({ file, pointer }: Location, expected: Expected): string | undefined {
    if (expected === 'other') return undefined
    const value = pointer === '#' ? this.#files.valueOf(file) : valueAt(this.#files.valueOf(file), pointer)
    const { shape, kind } = expected === 'data' ? { shape: 'one', kind: undefined } : expected
    const isFound =
      shape === 'list'
        ? Array.isArray(value)
        : isNode(value) || (kind === 'schema' && shape === 'one' && typeof value === 'boolean')
    if (isFound) return undefined
    return `${shownName(file)} has no ${shape === 'list' ? 'list' : 'object'} at ${pointer}`
  }

  /** Reports a reference without a target, with the reason unless that is plain. */
  #report(file: string, found: Reference, reason: string): void {
    const { text } = found
    const near = nearPointer(found, Object(this.#files.valueOf(file)))
    const because = reason === '' ? '' : ` (${reason})`
    const fix = near === undefined ? '' : `; did you mean ${near}?`
    const problem = isRemote(text)
      ? `${text} is a URL, and nothing is fetched; download it beside the document, and refer to the file`
      : `${text} does not resolve${because}${fix || '; correct the reference'}`
    this.#addProblem(file, found, problem, isRemote(text))
  }

  #addProblem(file: string, { pointer, isMapping }: Reference, text: string, isHidden: boolean): void {
    const key = location(file, isMapping ? pointer : holderOf(pointer))
    const place = this.#files.placeOf({ file, pointer })
    this.#sources.targets.delete(key)
    this.#sources.problems.set(key, { file, pointer, text, place, isHidden })
  }

  /** Returns why a reference to a value that its file does not have fails. */
  #missing(file: string, text: string, target: string): string {
    const { root } = this.#files
    if (!text.startsWith('#/')) return target
    if (file === root || valueAt(this.#files.valueOf(root), text) === undefined) return ''
    return `${shownName(root)} has it: ${pathTo(file, root)}${text}`
  }

  /** Reports the references that lead to one another without end, and those that lead to them. */
  #reportCycles(): void {
    const { targets } = this.#sources
    const settled = new Set<string>()
    const failing = new Set<string>()
    const endless = new Set<string>()
    for (const start of targets.keys()) {
      const chain = new Set<string>()
      let key = start
      for (let target = targets.get(key); target !== undefined; target = targets.get(key)) {
        if (settled.has(key) || chain.has(key)) break
        chain.add(key)
        key = location(target.file, target.pointer)
      }
      const isEndless = chain.has(key)
      for (const each of chain) {
        settled.add(each)
        if (isEndless || failing.has(key)) failing.add(each)
      }
      for (let each = key; isEndless && !endless.has(each); ) {
        endless.add(each)
        const { file, pointer } = targets.get(each) as ReferenceTarget
        each = location(file, pointer)
      }
    }
    for (const key of failing) {
      const { from, reference } = targets.get(key) as ReferenceTarget
      const { text, expected } = reference
      const isSchema = typeof expected !== 'string' && expected.kind === 'schema'
      if (endless.has(key)) {
        const result = isSchema ? 'validation would never end' : 'it leads nowhere'
        this.#addProblem(from, reference, `${text} refers back to itself, so ${result}; correct the reference`, true)
      } else if (!isSchema) this.#report(from, reference, 'it leads to references only')
    }
  }

  /** Returns why a reference leads neither to a file nor to a schema. */
  #unknown(file: string, { text, isMapping }: Reference): string {
    const [uri = ''] = text.split('#')
    if (uri === '') return 'no schema has this $anchor'
    if (/^[a-z][a-z\d+.-]*:/i.test(uri)) return 'no file and no schema of the document has this URI'
    if (isCopy(file)) return 'no schema has this name; begin a relative reference to a file with ./'
    return isMapping && !/[./]/.test(uri)
      ? 'no schema has this name'
      : `there is no file ${shownName(resolve(dirname(file), uri))}`
  }
}

/** Returns whether Redocly would fetch the target of a reference. */
const isRemote = (text: string): boolean => /^(?:https?:|data:|[\\/]{2})/i.test(text)

/** The end of the pointer to a dynamic reference. */
const dynamicKey = join('', '$dynamicRef')

const holderOf = (pointer: string): string => pointer.slice(0, pointer.lastIndexOf('/'))
