import { decoded, join, keysOf, withChanges } from '../document/json-pointer.ts'
import { type Node, withoutKeys } from '../document/walk-document.ts'
import { warning } from '../reports/reports.ts'
import type { DocumentFiles } from './document-files.ts'
import { type Location, location } from './reference-targets.ts'
import { idOf } from './reference-walk.ts'
import { dialectsIn, draftOf, isServedDialect, translated } from './schema-dialects.ts'
import { newMark } from './source-copies.ts'

/** A schema of a file. */
type Found = { file: string; pointer: string; schema: Node }

/** Functions that rewrite schemas, by their files and pointers. */
type Changes = Map<string, Map<string, (schema: Node) => Node>>

/**
 * Members that the copy of a file has for document/dynamic-references.ts: which resource a schema belongs to, the names of
 * its dynamic anchors, and the name that a $ref refers to dynamically.
 */
export const dynamicMembers = (mark: string) => ({
  resource: `${mark}resource`,
  anchors: `${mark}anchors`,
  dynamic: `${mark}dynamic`,
})

/** The member of a schema with a $dynamicRef that says why it cannot be resolved. */
export const dynamicProblem = 'x-dynamic-problem'

/** The name that stands for `$recursiveAnchor: true` of JSON Schema 2019-09; no other anchor can have it. */
const recursive = ''

const isFragment = (text: string): boolean => /^#[^/]/.test(text)

/** The schemas of the files of a document, in the dialects and the schema resources that they belong to. */
export class SchemaResources {
  readonly #schemas = new Map<string, Map<string, Found>>()
  /** The targets of each $dynamicRef, by its location. */
  readonly #targets = new Map<string, Location>()

  add(found: Found): void {
    const inFile = this.#schemas.get(found.file) ?? new Map<string, Found>()
    this.#schemas.set(found.file, inFile)
    if (!inFile.has(found.pointer)) inFile.set(found.pointer, found)
  }

  setTarget(file: string, pointer: string, target: Location): void {
    this.#targets.set(location(file, pointer), target)
  }

  /**
   * Translates the schemas in the values of files to JSON Schema 2020-12 without dynamic references. Returns what precedes
   * the names of the members for document/dynamic-references.ts, and what to say; undefined if nothing changes.
   */
  translate(files: DocumentFiles): { dynamicMark: string | undefined; warnings: string[] } | undefined {
    const changes: Changes = new Map()
    const dialects = this.#translateDialects(files, changes)
    const { mark, warnings = [] } = this.#markDynamic(files, changes) ?? {}
    if (changes.size === 0 && dialects.length === 0) return undefined
    for (const [file, inFile] of changes) {
      const source = files.sources.get(file)
      if (source !== undefined) files.sources.set(file, { ...source, value: withChanges(source.value, inFile) })
    }
    return { dynamicMark: mark, warnings: [...dialects, ...warnings] }
  }

  #translateDialects(files: DocumentFiles, changes: Changes): string[] {
    const warnings = new Map<string, string>()
    const { openapi } = Object(files.valueOf(files.root)) as { openapi?: unknown }
    const is30 = String(openapi).startsWith('3.0.')
    const all = [...this.#schemas.values()].flatMap((inFile) => [...inFile.values()])
    const countsItems = all.some(({ schema }) => Object.hasOwn(schema, 'unevaluatedItems'))
    for (const [file, schemas] of this.#schemas) {
      const source = files.sources.get(file)
      const dialectOf = source === undefined ? () => undefined : dialectsIn(source)
      for (const [pointer, { schema }] of schemas) {
        const keys = keysOf(pointer)
        const { uri, depth } = dialectOf(keys) ?? {}
        if (uri === undefined || depth === undefined) continue
        const draft = draftOf(uri)
        if (draft !== undefined) change(changes, file, pointer, (copy) => translated(copy, draft, countsItems))
        if (draft !== undefined && depth === -1)
          changes.get(file)?.set('#', (document) => withoutKeys(document, ['jsonSchemaDialect']))
        const isServed = isServedDialect(uri)
        const isOwn = schema.$schema === uri
        if (isOwn && (draft !== undefined || (is30 && !isServed)))
          change(changes, file, pointer, (copy) => withoutKeys(copy, ['$schema']))
        const at = join('#', ...keys.slice(0, depth), '$schema')
        // The rules reject a dialect that is not served, where a schema names it.
        const isSilent = isServed ? draft === undefined : !is30 && isOwn
        if (depth < 0 || isSilent || warnings.has(location(file, at))) continue
        const text = isServed
          ? `${uri} is read as JSON Schema 2020-12; what that writes in another way is translated`
          : `${uri} is ignored, and the schema is read as one of OpenAPI; remove it`
        const place = files.placeOf({ file, pointer: at })
        warnings.set(location(file, at), warning('translated-dialect', at, `${text} (${place})`))
      }
    }
    return [...warnings.values()]
  }

  #markDynamic(files: DocumentFiles, changes: Changes): { mark: string; warnings: string[] } | undefined {
    const all = [...this.#schemas.values()].flatMap((inFile) => [...inFile.values()])
    const dynamic = all.filter(({ schema }) => typeof schema.$dynamicRef === 'string' || schema.$recursiveRef === '#')
    if (dynamic.length === 0) return undefined
    const mark = newMark()
    const members = dynamicMembers(mark)
    const rootOf = this.#roots()
    const anchors = new AnchorNames(all, rootOf)
    for (const found of all) {
      const names = anchors.dynamicOf(found)
      const root = rootOf(found)
      if (!anchors.isDynamic(root)) continue
      change(changes, found.file, found.pointer, (schema) => ({
        ...schema,
        [members.resource]: location(root.file, root.pointer),
        ...(names.length > 0 && { [members.anchors]: names }),
      }))
    }
    const used = new Set<string>()
    for (const found of dynamic) {
      const { file, pointer, schema } = found
      const isRecursive = schema.$recursiveRef === '#'
      const keyword = isRecursive ? '$recursiveRef' : '$dynamicRef'
      const text = schema[keyword] as string
      const at = join(pointer, keyword)
      const name = isRecursive ? recursive : decoded(text.slice(text.indexOf('#') + 1))
      const own = isRecursive ? rootOf(found) : isFragment(text) ? anchors.find(found, name) : undefined
      const target = own ?? this.#targets.get(location(file, at))
      if (target === undefined) continue
      const there = this.#schemas.get(target.file)?.get(target.pointer)
      const isDynamic = there !== undefined && anchors.dynamicOf(there).includes(name)
      if (isDynamic && anchors.isRepeated(name)) {
        const problem = `${text} is ambiguous, since one schema resource has two such anchors; rename one of them`
        change(changes, file, pointer, (copy) => ({ ...copy, [dynamicProblem]: problem }))
        continue
      }
      if (isDynamic) used.add(name)
      // Without an identifier, the anchor could be that of another schema.
      const $ref = own === undefined || idOf(rootOf(found).schema) !== undefined ? text : own.pointer
      change(changes, file, pointer, (copy) =>
        withReference(copy, keyword, { $ref, ...(isDynamic && { [members.dynamic]: name }) }),
      )
    }
    const text =
      'has no $id; it is read as a schema resource of its own, since other schemas have the same $dynamicAnchor'
    const warnings = anchors
      .assumed(used)
      .map((root) =>
        warning('schema-resource-without-id', root.pointer, `${text}; give it one (${files.placeOf(root)})`),
      )
    return { mark, warnings }
  }

  /**
   * Returns a function that returns the root of the resource of a schema: the closest schema with an identifier that holds
   * it, or else the outermost schema (core, section 4.3.5). An OpenAPI document is no schema.
   */
  #roots(): (found: Found) => Found {
    const known = new Map<Found, Found>()
    const rootOf = (found: Found): Found => {
      const root = known.get(found) ?? (idOf(found.schema) === undefined ? above(found) : found)
      known.set(found, root)
      return root
    }
    const above = (found: Found): Found => {
      const inFile = this.#schemas.get(found.file)
      for (let pointer = holderOf(found.pointer); pointer !== ''; pointer = holderOf(pointer)) {
        const holder = inFile?.get(pointer)
        if (holder !== undefined) return rootOf(holder)
      }
      return found
    }
    return rootOf
  }
}

const holderOf = (pointer: string): string => pointer.slice(0, Math.max(0, pointer.lastIndexOf('/')))

/** The anchors of the schema resources of a document. */
class AnchorNames {
  readonly #rootOf: (found: Found) => Found
  /** The schemas with an anchor of either kind, by the roots of their resources. */
  readonly #all = new Map<Found, Map<string, Found>>()
  readonly #dynamic = new Map<Found, Set<string>>()
  readonly #repeated = new Set<string>()

  constructor(schemas: Found[], rootOf: (found: Found) => Found) {
    this.#rootOf = rootOf
    for (const found of schemas) {
      const root = rootOf(found)
      const { $anchor } = found.schema
      const dynamic = this.dynamicOf(found)
      const names = this.#dynamic.get(root) ?? new Set<string>()
      for (const name of dynamic) {
        if (names.has(name)) this.#repeated.add(name)
        this.#dynamic.set(root, names.add(name))
      }
      const anchored = this.#all.get(root) ?? new Map<string, Found>()
      this.#all.set(root, anchored)
      for (const name of [...dynamic, ...(typeof $anchor === 'string' ? [$anchor] : [])]) anchored.set(name, found)
    }
  }

  /** Returns the names of the dynamic anchors of a schema. */
  dynamicOf(found: Found): string[] {
    const { $dynamicAnchor, $recursiveAnchor } = found.schema
    const isRecursive = $recursiveAnchor === true && this.#rootOf(found) === found
    return [...(typeof $dynamicAnchor === 'string' ? [$dynamicAnchor] : []), ...(isRecursive ? [recursive] : [])]
  }

  /** Returns the schema with an anchor in the resource of a schema. */
  find = (found: Found, name: string): Found | undefined => this.#all.get(this.#rootOf(found))?.get(name)

  isDynamic = (root: Found): boolean => this.#dynamic.has(root)

  isRepeated = (name: string): boolean => this.#repeated.has(name)

  /** Returns the roots of resources that have neither an identifier nor a file of their own, but a shared anchor. */
  assumed(used: Set<string>): Found[] {
    const roots = [...this.#dynamic]
    const isShared = (name: string) => roots.filter(([, names]) => names.has(name)).length > 1
    const shared = new Set([...used].filter((name) => name !== recursive && isShared(name)))
    return roots
      .filter(([{ schema, pointer }]) => idOf(schema) === undefined && pointer !== '#')
      .filter(([, names]) => [...names].some((name) => shared.has(name)))
      .map(([root]) => root)
  }
}

/** Adds a function that rewrites a schema after the earlier ones. */
function change(changes: Changes, file: string, pointer: string, next: (schema: Node) => Node): void {
  const inFile = changes.get(file) ?? new Map<string, (schema: Node) => Node>()
  const before = inFile.get(pointer)
  changes.set(file, inFile.set(pointer, before === undefined ? next : (schema) => next(before(schema))))
}

/** Returns a schema with a dynamic reference as one with a $ref. */
function withReference(schema: Node, keyword: string, reference: Node): Node {
  const rest = withoutKeys(schema, [keyword])
  if (!Object.hasOwn(rest, '$ref')) return { ...rest, ...reference }
  return { ...rest, allOf: [...((rest.allOf as unknown[] | undefined) ?? []), reference] }
}
