import { isDeepStrictEqual } from 'node:util'
import { isDocumentation, schemaKeywords } from 'fastify-contract/contract'
import { withDiscriminators } from '../document/discriminators.ts'
import { join, keysOf, resolve } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { isNode, mapDocument, type Node, walkSchemas } from '../document/walk-document.ts'
import { withInherited } from './inherited-members.ts'
import {
  distinctSources,
  isLeaf,
  isReference,
  locatedParts,
  type Merged,
  mergeParts,
  onlyReference,
  ordered,
  pointersAbove,
  resolvedPointer,
  type Source,
  targetOf,
  wrappedTarget,
} from './merge-parts.ts'
import { toPlainForm } from './plain-form.ts'
import { pointerMap } from './pointer-map.ts'

export type ComparableDocument = {
  document: Document
  /** Returns the original pointers for a pointer of the comparable document; several if parts were merged there. */
  originsOf(pointer: string): string[]
  /** Returns whether a schema was merged into others, so that its changes are found there. */
  isTaken(pointer: string): boolean
  /** Returns whether a $ref refers to a pointer. */
  isReferredTo(pointer: string): boolean
  /** The number of keywords and schemas that were visited. */
  steps: number
}

/**
 * Returns an equivalent document in a normal form, in which equal contracts look alike. Discriminators are expressed in
 * the schemas that they distinguish, as the service validates them, each allOf is merged into its parent schema, each
 * operation has what it inherits, and each keyword is in its plain form.
 */
export function comparableDocument(document: Document): ComparableDocument {
  const components = { schemas: {}, ...document.components }
  const inherited = withInherited({ ...document, components })
  const told = copyOf(withDiscriminators(withoutSiblings(inherited.document)))
  const plain = toPlainForm(told)
  const targets = new Set(referencesOf(told))
  const { merge, finish, alternatives, originsOf, taken, steps } = schemaMerger(told, targets)
  const comparable = copyOf(told)
  let top = ''
  walkSchemas(told, function mergeTopmost(_, at) {
    const pointer = at()
    if (top !== '' && pointer.startsWith(`${top}/`)) return
    top = pointer
    put(comparable, pointer, merge(pointer))
  })
  Object.assign(comparable, { [alternativesName]: alternatives })
  finish(comparable)
  const isAtOrAbove = (pointer: string) => (other: string) => pointer === other || pointer.startsWith(`${other}/`)
  return {
    document: copyOf(comparable),
    originsOf: (pointer) => originsOf(pointer).flatMap(plain.get).flatMap(inherited.origins.get),
    isTaken: (pointer) => [...taken].some(isAtOrAbove(pointer)),
    isReferredTo: (pointer) => targets.has(pointer),
    steps: steps(),
  }
}

/** Returns a deep copy, so that no object occurs in two locations: objects are identified by their location. */
const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value))

/** Removes the siblings of a $ref, which OpenAPI 3.0 ignores (section 4.7.23), but keeps documentation keywords. */
const withoutSiblings = (document: Document): Document =>
  document.openapi.startsWith('3.0.')
    ? mapDocument(document, {
        schema: (schema) =>
          typeof schema.$ref === 'string'
            ? Object.fromEntries(Object.entries(schema).filter(([key]) => key === '$ref' || isDocumentation(key)))
            : schema,
      })
    : document

function referencesOf(document: Document): string[] {
  const references: string[] = []
  function addReferences({ $ref, discriminator }: Node): void {
    const { mapping = {} } = Object(discriminator) as { mapping?: Node }
    for (const reference of [$ref, ...Object.values(mapping)]) {
      if (typeof reference === 'string' && reference.startsWith('#/')) references.push(targetOf(reference))
    }
  }

  walkSchemas(document, addReferences)
  return references
}

function put(document: object, pointer: string, value: unknown): void {
  const keys = keysOf(pointer)
  const parent = resolve(document, pointer.slice(0, pointer.lastIndexOf('/'))) as Node
  parent[keys.at(-1) as string] = value
}

/**
 * The depth to which the common properties of merged parts are merged, too. Deeper properties are compared unmerged,
 * since recursive schemas never end and each level can double the number of schemas.
 */
const maximumDepth = 2

/** A pointer that no document has, for schemas that are built only for a comparison. */
const unused = '#/-'

/**
 * Returns a merger for the schemas of a document. `targets` are the pointers that references refer to: a schema that
 * contains one of them is not merged.
 */
export function schemaMerger(document: object, targets: Iterable<string>): SchemaMerger {
  const places = sourceMoves()
  const taken = new Set<string>()
  const alternatives: Node = {}
  const fixed = new Set([...targets].flatMap(pointersAbove))
  let steps = 0

  /** Returns the schema that describes what all sources describe together, for the pointer `at` of the result. */
  function emit(sources: Source[], at: string, depth: number): unknown {
    steps += sources.length ** 2
    const [first, ...others] = distinctSources(document, sources) as [Source, ...Source[]]
    if (others.length === 0) return first.shared ? referred(first.pointer) : single(first.pointer, at, depth)
    const merged = depth < maximumDepth ? mergedOf([first, ...others]) : undefined
    if (merged !== undefined) return take(merged, build(merged, at, depth + 1))
    const allOf = [first, ...others].map(function mergePart(source, index) {
      const place = join(at, 'allOf', String(index))
      places.set([source], place)
      return emit([source], place, depth)
    })
    return { allOf }
  }

  /** Returns a shared schema as a $ref, or as a copy. */
  function referred(pointer: string): unknown {
    const schema = resolve(document, pointer)
    if (!isNode(schema) || isReference(schema)) return schema
    // A schema without subschemas is copied: redocly diff pairs schemas by similarity, which a $ref would hide.
    return isLeaf(schema) ? plain(schema, pointer, pointer, 0) : places.referTo(pointer)
  }

  /** Returns the merged subschema for `keys` below `at`. An alternative that narrows its $ref gets its own location. */
  function held(sources: Source[], at: string, keys: string[], depth: number): unknown {
    const place = alternativePlace(document, sources, at, keys)
    if (place === undefined || Object.hasOwn(alternatives, place.name)) return emit(sources, join(at, ...keys), depth)
    places.set(sources, place.pointer)
    const schema = emit(sources, place.pointer, depth)
    alternatives[place.name] = schema
    return isNode(schema) && isReference(schema) ? schema : { $ref: place.pointer }
  }

  /** Returns a schema with its own $ref and allOf merged into it if possible. */
  function single(pointer: string, at: string, depth: number): unknown {
    const schema = resolve(document, pointer)
    if (!isNode(schema)) return schema
    const { $ref, allOf, ...own } = schema
    if ($ref === undefined && allOf === undefined) return plain(schema, pointer, at, depth)
    const target = wrappedTarget(document, schema)
    if (target !== undefined && Object.keys(own).length === 0) return { $ref: target }
    const merged = mergedOf([{ pointer, shared: false }])
    if (merged !== undefined) {
      const built = build(merged, at, depth)
      return (target === undefined ? sameAsTarget(schema, built) : undefined) ?? take(merged, built)
    }
    const isTextBeside = target !== undefined && Object.keys(own).every(isDocumentation)
    return isTextBeside ? { ...own, $ref: target } : plain(schema, pointer, at, depth)
  }

  /**
   * Returns a $ref to the only schema that a schema refers to if its other keywords add nothing; otherwise undefined.
   */
  function sameAsTarget(schema: Node, built: Node): Node | undefined {
    const $ref = onlyReference(schema)
    if ($ref === undefined) return undefined
    const merged = mergedOf([{ pointer: targetOf($ref), shared: true }])
    const isSame = merged !== undefined && isDeepStrictEqual(build(merged, unused, 0), built)
    return isSame ? { $ref } : undefined
  }

  function mergedOf(sources: Source[]): Merged | undefined {
    if (sources.some(({ pointer, shared }) => !shared && fixed.has(pointer))) return undefined
    const parts = locatedParts(document, sources)
    if (parts === undefined) return undefined
    steps += parts.reduce((sum, { own }) => sum + 1 + Object.keys(own).length, 0)
    return mergeParts(parts, sources.length === 1 ? parts[0] : undefined)
  }

  /** Records the shared parts of a merged schema as taken, and returns the schema. */
  function take({ parts }: Merged, built: Node): Node {
    for (const { pointer, shared } of parts) if (shared) taken.add(pointer)
    return built
  }

  function build({ values, schemas }: Merged, at: string, depth: number): Node {
    const below = (sources: Source[], ...keys: string[]) => {
      places.set(sources, join(at, ...keys))
      return held(sources, at, keys, depth)
    }
    const built: [string, unknown][] = []
    for (const [keyword, { value, from }] of values) {
      places.set(from, join(at, keyword))
      built.push([keyword, value])
    }
    for (const [keyword, { from, byKey, isList }] of schemas) {
      if (byKey === undefined) {
        built.push([keyword, below(from, keyword)])
        continue
      }
      places.set(from, join(at, keyword))
      const entries: [string, unknown][] = []
      for (const [key, sources] of byKey) entries.push([key, below(sources, keyword, key)])
      built.push([keyword, heldBy(isList, entries)])
    }
    return ordered(Object.fromEntries(built))
  }

  /** Returns a schema that keeps its keywords, with merged schemas in them. */
  function plain(schema: Node, pointer: string, at: string, depth: number): Node {
    const below = (...keys: string[]) => held([{ pointer: join(pointer, ...keys), shared: false }], at, keys, depth)
    const kept: [string, unknown][] = []
    for (const [keyword, value] of Object.entries(schema)) {
      steps++
      const shape = Object.hasOwn(schemaKeywords, keyword) ? schemaKeywords[keyword] : undefined
      if (shape === undefined || typeof value !== 'object' || value === null) kept.push([keyword, value])
      else if (shape === 'one') kept.push([keyword, below(keyword)])
      else {
        const entries: [string, unknown][] = []
        for (const key of Object.keys(value)) entries.push([key, below(keyword, key)])
        kept.push([keyword, heldBy(shape === 'list', entries)])
      }
    }
    return ordered(Object.fromEntries(kept))
  }

  return {
    merge: (pointer) => single(pointer, pointer, 0),
    ...places,
    alternatives,
    taken,
    steps: () => steps,
  }
}

/** Returns the value of a keyword that holds several schemas. */
const heldBy = (isList: boolean, entries: [string, unknown][]): unknown =>
  isList ? entries.map(([, schema]) => schema) : Object.fromEntries(entries)

export type SchemaMerger = Pick<SourceMoves, 'finish' | 'originsOf'> & {
  /** Returns the schema at a pointer, with its allOf merged if possible. */
  merge(pointer: string): unknown
  /** The value of the member `alternativesName` in a document that is built from the results. */
  alternatives: Node
  /** The pointers of schemas that were merged into others. */
  taken: Set<string>
  /** Returns the number of keywords and schemas that were visited. */
  steps(): number
}

export type SourceMoves = {
  /** Records that the sources of the document are at a pointer of the result. */
  set(sources: Source[], place: string): void
  /** Returns a $ref to a pointer of the document; `finish` adjusts it if the target moves. */
  referTo(pointer: string): { $ref: string }
  /** Resolves each $ref that `referTo` returned to the location of its target in the comparable document. */
  finish(comparable: object): void
  /** Returns the pointers of the document whose contents were merged at a pointer of the result. */
  originsOf(pointer: string): string[]
}

/** Returns a record of where the parts of merged schemas move. */
export function sourceMoves(): SourceMoves {
  const origins = pointerMap()
  const moves = pointerMap()
  const references: { $ref: string }[] = []
  return {
    set(sources, place) {
      const pointers = sources.map(({ pointer }) => pointer)
      origins.set(place, pointers)
      for (const { pointer, shared } of sources) if (!shared && pointer !== place) moves.set(pointer, [place])
    },
    referTo(pointer) {
      const reference = { $ref: pointer }
      references.push(reference)
      return reference
    },
    finish(comparable) {
      for (const reference of references) {
        reference.$ref = resolvedPointer(comparable, moves.get(reference.$ref)[0] as string)
      }
    },
    originsOf: origins.get,
  }
}

/** The name of the member of a document that holds the alternatives of its unions. */
export const alternativesName = 'x-alternatives'

/**
 * Returns a location for an alternative that narrows the schema that it refers to, as with a discriminator. Returns
 * undefined for other alternatives. redocly diff pairs alternatives by their $ref, and those without one by similarity.
 * Without the same $ref in both documents, an edit could make it compare two unrelated alternatives.
 */
export function alternativePlace(document: object, [source]: Source[], at: string, [keyword]: string[]) {
  if (source === undefined || source.shared || (keyword !== 'oneOf' && keyword !== 'anyOf')) return undefined
  const schema = resolve(document, source.pointer)
  const $ref = onlyReference(schema)
  if ($ref === undefined || !isNode(schema) || isReference(schema)) return undefined
  const name = `${at} ${keyword} ${$ref}`
  return { name, pointer: join('#', alternativesName, name) }
}
