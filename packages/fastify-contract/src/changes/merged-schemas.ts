import { isDeepStrictEqual } from 'node:util'
import { join, resolve } from '../compile/json-pointer.ts'
import { isNode, type Node } from '../compile/walk-document.ts'
import { schemaKeywords } from '../serve/schema-keywords.ts'
import { isText, ordered } from './merge-keywords.ts'
import { type Merged, mergeParts } from './merge-parts.ts'
import { distinctSources, partsOf, type Source } from './merge-sources.ts'
import type { SchemaMerger } from './schema-merger.ts'
import { isLeaf, isReference, onlyReference, pointersAbove, targetOf, wrappedTarget } from './schema-references.ts'
import { sourceMoves } from './source-moves.ts'
import { alternativePlace } from './union-alternatives.ts'

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
    const allOf = [first, ...others].map((source, index) => {
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

  /** Returns the merged subschema for `keys` below `at`. An alternative that narrows its $ref gets its own place. */
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
    const isTextBeside = target !== undefined && Object.keys(own).every(isText)
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
    const parts = partsOf(document, sources)
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
    const plainValues = Array.from(values, ([keyword, { value, from }]) => {
      places.set(from, join(at, keyword))
      return [keyword, value]
    })
    const subschemas = Array.from(schemas, ([keyword, { from, byKey, isList }]) => {
      if (byKey === undefined) return [keyword, below(from, keyword)]
      places.set(from, join(at, keyword))
      const entries = Array.from(byKey, ([key, sources]) => [key, below(sources, keyword, key)] as const)
      return [keyword, isList ? entries.map(([, schema]) => schema) : Object.fromEntries(entries)]
    })
    return ordered(Object.fromEntries([...plainValues, ...subschemas]))
  }

  /** Returns a schema that keeps its keywords, with merged schemas in them. */
  function plain(schema: Node, pointer: string, at: string, depth: number): Node {
    const below = (...keys: string[]) => held([{ pointer: join(pointer, ...keys), shared: false }], at, keys, depth)
    const entries = Object.entries(schema).map(([keyword, value]) => {
      steps++
      const shape = Object.hasOwn(schemaKeywords, keyword) ? schemaKeywords[keyword] : undefined
      if (shape === undefined || typeof value !== 'object' || value === null) return [keyword, value]
      if (shape === 'one') return [keyword, below(keyword)]
      const schemas = Object.keys(value).map((key) => [key, below(keyword, key)] as const)
      return [keyword, shape === 'list' ? schemas.map(([, schema]) => schema) : Object.fromEntries(schemas)]
    })
    return ordered(Object.fromEntries(entries))
  }

  return {
    merge: (pointer) => single(pointer, pointer, 0),
    ...places,
    alternatives,
    taken,
    steps: () => steps,
  }
}
