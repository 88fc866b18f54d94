import { join, keysOf, resolve as valueAt } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { isNode, type Kind, type Node } from '../document/walk-document.ts'
import { ComponentNames, componentGroups } from './component-names.ts'
import { pathTo, shownName } from './file-text.ts'
import type { Source } from './read-source.ts'
import { type Location, location } from './reference-targets.ts'
import { placeText, withinStack } from './source-error.ts'
import type { ReferenceTarget, SourceProblem, Sources } from './source-files.ts'

/** The files of a document as one document. */
export type Bundle = {
  document: Document
  /** The references without a target, which stay as they are, by the pointers of the objects that have them. */
  problems: Map<string, SourceProblem>
  /** The schemas with another name than in their own files, by their names in the document. */
  renamed: Map<string, string>
  /** Returns the place, FILE:LINE:COLUMN, of a pointer of the document in its files. */
  placeOf(pointer: string): string
  /** Returns whether a pointer of the document leads to another file than its first. */
  isElsewhere(pointer: string): boolean
}

/** The first members of a bundled document, in their order. */
const firstMembers =
  'openapi info jsonSchemaDialect servers security tags externalDocs paths webhooks components'.split(' ')

/**
 * Returns the files of a document as one document. A reference to another file becomes one to a component, with the name
 * that it has in its file, or else the target itself. Redocly's bundler gives components the same names.
 */
export const bundleSources = (sources: Sources): Bundle =>
  withinStack(shownName(sources.path), () => new Bundler(sources).run())

/** Objects for which OpenAPI has no reference: nothing after the bundler follows one. */
const withoutReferences: Kind[] = ['operation', 'encoding']

class Bundler {
  readonly #sources: Sources
  readonly #root: string
  readonly #names: ComponentNames
  /** The source locations of pointers of the document that are elsewhere than in its first file. */
  readonly #places = new Map<string, Location>()
  readonly #problems = new Map<string, SourceProblem>()
  /** The pointers of each file at or below which something changes. */
  readonly #changing = new Map<string, Set<string>>()
  /** The targets that are written at the moment, with the pointers of the document where they are. */
  readonly #open = new Map<string, string>()

  constructor(sources: Sources) {
    this.#sources = sources
    const [root = ''] = sources.files.keys()
    this.#root = root
    this.#names = new ComponentNames(sources)
    for (const [file, { dropped }] of sources.edits) for (const pointer of dropped) this.#mark(file, pointer)
    for (const key of [...sources.targets.keys(), ...sources.problems.keys(), ...sources.examples.keys()]) {
      const end = key.lastIndexOf('\n')
      if (this.#isChanged(key)) this.#mark(key.slice(0, end), key.slice(end + 1))
    }
  }

  run(): Bundle {
    this.#open.set(location(this.#root, '#'), '#')
    const whole = this.#copy(this.#valueAt({ file: this.#root, pointer: '#' }), this.#at('#'), '#') as Node
    const written = new Map<string, [name: string, value: unknown][]>()
    // A component that is written may name others.
    for (const { group, name, origin } of this.#names.added) {
      const to = join('#', 'components', group, name)
      this.#places.set(to, origin)
      written.set(group, [...(written.get(group) ?? []), [name, this.#copy(this.#valueAt(origin), origin, to)]])
    }
    const given = { components: {}, ...whole }
    const { components } = given
    const groups = Array.from(written, function mergeGroup([group, members]) {
      const own = isNode(components) ? components[group] : undefined
      return [group, { ...(isNode(own) ? own : undefined), ...Object.fromEntries(members) }]
    })
    if (groups.length > 0)
      given.components = { ...(isNode(components) ? components : undefined), ...Object.fromEntries(groups) }
    const names = firstMembers.filter((name) => Object.hasOwn(given, name)).concat(Object.keys(given))
    const document = Object.fromEntries(names.map((name) => [name, given[name as keyof typeof given]]))
    return {
      document: document as Document,
      problems: this.#problems,
      renamed: this.#names.renamed,
      placeOf: (pointer) => this.#placeOf(pointer),
      isElsewhere: (pointer) => this.#sourceOf(pointer).file !== this.#root,
    }
  }

  #at = (pointer: string): Location => ({ file: this.#root, pointer })

  #valueAt({ file, pointer }: Location): unknown {
    const source = this.#sources.files.get(file)
    return source === undefined ? this.#sources.texts.get(file) : valueAt(Object(source.value), pointer)
  }

  /** Returns whether the document has another reference than its file. */
  #isChanged(key: string): boolean {
    const target = this.#sources.targets.get(key)
    return target === undefined || !this.#isKept(target)
  }

  /** Returns whether a reference stays as it is: one within the first file to an object. */
  #isKept({ file, pointer, from, reference: { text, expected } }: ReferenceTarget): boolean {
    const isObject =
      typeof expected === 'string' || (expected.shape === 'one' && !withoutReferences.includes(expected.kind))
    const isOwn = file === this.#root && from === this.#root && /^#(?:\/|$)/.test(text)
    return isOwn && isObject && join('#', ...keysOf(text)) === pointer
  }

  #mark(file: string, pointer: string): void {
    const changing = this.#changing.get(file) ?? new Set()
    this.#changing.set(file, changing)
    for (let each = pointer; each !== '' && !changing.has(each); each = each.slice(0, each.lastIndexOf('/')))
      changing.add(each)
  }

  /** Returns the value at a source location as the document has it at the pointer `to`. */
  #copy(value: unknown, from: Location, to: string): unknown {
    if (typeof value !== 'object' || value === null) return this.#mapped(value, from, to)
    if (this.#changing.get(from.file)?.has(from.pointer) !== true)
      return from.file === this.#root && from.pointer === to ? value : structuredClone(value)
    const below = (key: string): Location => ({ file: from.file, pointer: join(from.pointer, key) })
    if (Array.isArray(value)) return value.map((each, key) => this.#copy(each, below(`${key}`), join(to, `${key}`)))
    const key = location(from.file, from.pointer)
    const problem = this.#sources.problems.get(key)
    if (problem !== undefined) this.#problems.set(to, problem)
    const target = this.#sources.targets.get(key)
    if (target !== undefined && typeof (value as Node).$ref === 'string')
      return this.#referred(value as Node, target, from, to)
    const example = this.#sources.examples.get(key)
    return example === undefined
      ? this.#members(value as Node, from, to)
      : this.#withExample(value as Node, example, from, to)
  }

  /** Returns an object without its identifiers. */
  #members(node: Node, from: Location, to: string, skipped?: string): Node {
    const { dropped } = this.#sources.edits.get(from.file) as { dropped: Set<string> }
    return Object.fromEntries(
      Object.entries(node).flatMap(([name, value]) => {
        const at = join(from.pointer, name)
        if (name === skipped || dropped.has(at)) return []
        return [[name, this.#copy(value, { file: from.file, pointer: at }, join(to, name))]]
      }),
    )
  }

  /** Returns a member that is no object: a value of a mapping that refers to a schema, or a reference. */
  #mapped(value: unknown, from: Location, to: string): unknown {
    const key = location(from.file, from.pointer)
    const target = this.#sources.targets.get(key)
    if (target?.reference.isMapping) return this.#isKept(target) ? value : this.#pointerTo(target, 'schema')
    const problem = this.#sources.problems.get(key)
    if (problem !== undefined) this.#problems.set(to, problem)
    const isReference = problem !== undefined || (to.endsWith('/$ref') && this.#isProblem(from))
    return isReference && typeof value === 'string' ? this.#fromRoot(value, from.file) : value
  }

  /** Returns whether a member is the $ref of a reference without a target. */
  #isProblem = ({ file, pointer }: Location): boolean =>
    this.#sources.problems.get(location(file, pointer.slice(0, -'/$ref'.length)))?.pointer === pointer

  /** Returns a reference without a target as the first file would have it, so that it leads nowhere there, too. */
  #fromRoot(text: string, file: string): string {
    if (file === this.#root || /^(?:[a-z][a-z\d+.-]*:|[\\/])/i.test(text)) return text
    return text.startsWith('#') ? `${pathTo(this.#root, file)}${text}` : text
  }

  /** Returns the reference to a target of a kind that has components, or that the first file has. */
  #pointerTo(target: Location, kind: Kind): string | undefined {
    if (target.file === this.#root) return target.pointer
    const group = componentGroups[kind]
    return group && join('#', 'components', group, this.#names.nameOf(group, target))
  }

  /** Returns what the document has instead of an object with a reference. */
  #referred(node: Node, target: ReferenceTarget, from: Location, to: string): unknown {
    const { expected } = target.reference
    if (this.#isKept(target)) return this.#members(node, from, to)
    const isOne = typeof expected !== 'string' && expected.shape === 'one'
    const reference =
      isOne && !withoutReferences.includes(expected.kind) ? this.#pointerTo(target, expected.kind) : undefined
    if (reference === undefined || reference === to) return this.#inlined(node, target, from, to)
    return { ...this.#members(node, from, to), $ref: reference }
  }

  /** Returns the target of a reference with the members beside the reference, which win. */
  #inlined(node: Node, target: Location, from: Location, to: string): unknown {
    const key = location(target.file, target.pointer)
    const open = this.#open.get(key)
    if (open !== undefined) return { $ref: open }
    this.#open.set(key, to)
    this.#places.set(to, { file: target.file, pointer: target.pointer })
    const found = this.#copy(this.#valueAt(target), target, to)
    this.#open.delete(key)
    const beside = this.#members(node, from, to, '$ref')
    for (const name of Object.keys(beside))
      this.#places.set(join(to, name), { file: from.file, pointer: join(from.pointer, name) })
    return isNode(found) ? { ...found, ...beside } : found
  }

  /** Returns an example with the content of its file. */
  #withExample(node: Node, file: string, from: Location, to: string): Node {
    if (node.value !== undefined) return this.#members(node, from, to)
    const at = join(to, 'value')
    this.#places.set(at, { file, pointer: '#' })
    const value = this.#copy(this.#valueAt({ file, pointer: '#' }), { file, pointer: '#' }, at)
    return { ...this.#members(node, from, to, 'externalValue'), value }
  }

  #sourceOf(pointer: string): Location {
    const keys = keysOf(pointer)
    for (let count = keys.length; count > 0; count--) {
      const found = this.#places.get(join('#', ...keys.slice(0, count)))
      if (found !== undefined) return { ...found, pointer: join(found.pointer, ...keys.slice(count)) }
    }
    return this.#at(join('#', ...keys))
  }

  #placeOf(pointer: string): string {
    const { file, pointer: own } = this.#sourceOf(pointer)
    const source = this.#sources.files.get(file)
    return source === undefined ? shownName(file) : placeIn(file, source, own)
  }
}

const placeIn = (file: string, source: Source, pointer: string): string =>
  placeText(shownName(file), source.placeOf(keysOf(pointer)))
