import { isDeepStrictEqual } from 'node:util'
import { isDocumentation, schemaKeywords } from 'fastify-contract/contract'
import { join, keysOf, resolve } from '../document/json-pointer.ts'
import { acceptsAll, commonTypes, type Part, partsOf } from '../document/schemas.ts'
import { hasAny, isNode, type Node } from '../document/walk-document.ts'

/**
 * A schema merged from parts: its plain values, and the sources of each subschema by keyword and, if it has one, key.
 */
export type Merged = {
  parts: LocatedPart[]
  values: Map<string, { value: unknown; from: Source[] }>
  schemas: Map<string, { from: Source[]; isList: boolean; byKey?: Map<string, Source[]> }>
}

/**
 * Returns one schema that accepts exactly the values that all parts accept, or undefined if a schema without allOf may
 * not be equivalent. The root is the part whose $ref or allOf contains all the others. The documentation of shared
 * parts is left out, because it is compared at their own locations.
 */
export function mergeParts(parts: LocatedPart[], root?: LocatedPart): Merged | undefined {
  const binding = parts.filter(({ own }) => Object.keys(own).some((keyword) => !isDocumentation(keyword)))
  if (binding.length > 1 && !areIndependent(binding, root)) return undefined
  const merged: Merged = { parts, values: new Map(), schemas: new Map() }
  const holders = new Map<string, LocatedPart[]>()
  for (const part of parts) {
    for (const keyword of Object.keys(part.own)) {
      // A shared discriminator is already expressed in the schemas that it distinguishes.
      const isLeftOut = part.shared && (isDocumentation(keyword) || keyword === 'discriminator')
      holders.set(keyword, [...(holders.get(keyword) ?? []), ...(isLeftOut ? [] : [part])])
    }
  }
  for (const [keyword, all] of holders) if (all.length > 0 && !mergeKeyword(merged, keyword, all)) return undefined
  return withoutSurplus(merged)
}

function mergeKeyword({ values, schemas }: Merged, keyword: string, holders: LocatedPart[]): boolean {
  const at = (part: LocatedPart, ...keys: string[]) => ({
    pointer: join(part.pointer, keyword, ...keys),
    shared: part.shared,
  })
  const shape = Object.hasOwn(schemaKeywords, keyword) ? schemaKeywords[keyword] : undefined
  const held = holders.map(({ own }) => own[keyword])
  const from = holders.map((part) => at(part))
  if (shape === undefined) {
    const value = combined(keyword, held)
    values.set(keyword, { value, from })
    return value !== undefined
  }
  if (shape === 'one') {
    const isSame = combined(keyword, held) !== undefined
    schemas.set(keyword, { from: isSame ? from.slice(0, 1) : from, isList: false })
    return isSame || keyword === 'items'
  }
  const isUnited = keyword === 'properties' || keyword === 'patternProperties'
  if (!isUnited && combined(keyword, held) === undefined) return false
  const byKey = new Map<string, Source[]>()
  for (const part of isUnited ? holders : holders.slice(0, 1)) {
    if (typeof part.own[keyword] !== 'object') return false
    for (const key of Object.keys(part.own[keyword] as Node)) byKey.set(key, [...(byKey.get(key) ?? []), at(part, key)])
  }
  schemas.set(keyword, { from, isList: shape === 'list', byKey })
  return true
}

/** Removes an enum that contains the const. Returns undefined if the enum does not contain it. */
function withoutSurplus(merged: Merged): Merged | undefined {
  const [constant, list] = [merged.values.get('const'), merged.values.get('enum')]
  if (constant === undefined || list === undefined) return merged
  if (![list.value].flat().some((item) => isDeepStrictEqual(item, constant.value))) return undefined
  merged.values.delete('enum')
  return merged
}

/** The keywords whose meaning depends on each other (JSON Schema 2020-12, core, sections 10.2.2 and 10.3.1). */
const groups = [
  ['if', 'then', 'else'],
  ['contains', 'minContains', 'maxContains'],
]

/**
 * Returns whether a keyword identifies a schema or refers to one (core, section 8), or is a boolean keyword of OpenAPI
 * 3.0.
 */
const isBound = ([keyword, value]: [string, unknown]): boolean =>
  /^\$(id|anchor|dynamicAnchor|dynamicRef|recursiveRef|recursiveAnchor|schema|vocabulary)$/.test(keyword) ||
  (/^(exclusiveM(in|ax)imum|nullable)$/.test(keyword) && value === true)

/** Returns whether all keywords keep their meaning when the parts are merged. */
function areIndependent(parts: LocatedPart[], root: LocatedPart | undefined): boolean {
  const holding = (...keywords: string[]) => parts.filter(({ own }) => hasAny(own, keywords))
  const isEvaluating = (part: LocatedPart) => holding('unevaluatedProperties', 'unevaluatedItems').includes(part)
  if (parts.some((part) => Object.entries(part.own).some(isBound) || (isEvaluating(part) && part !== root)))
    return false
  for (const group of groups) {
    const held = holding(...group).map(({ own }) => group.map((keyword) => own[keyword]))
    if (held.length > 1 && combined('', held) === undefined) return false
  }
  if (holding('prefixItems').length > 0 && holding('prefixItems', 'items').length > 1) return false
  return parts.every((part) => isOpen(part.own) || knowsProperties(part, parts))
}

const isOpen = ({ additionalProperties: schema = true }: Node): boolean => acceptsAll(schema)

/**
 * Returns whether a part names every property of the others, so that merging keeps its additionalProperties unchanged.
 */
function knowsProperties(part: LocatedPart, parts: LocatedPart[]): boolean {
  const known = Object.keys((part.own.properties ?? {}) as Node)
  for (const { own } of parts) {
    if (own === part.own) continue
    const names = Object.keys((own.properties ?? {}) as Node)
    if (!isOpen(own) || own.patternProperties || !names.every((name) => known.includes(name))) return false
  }
  return true
}

/** Returns one value of a keyword that is equivalent to several values together, or undefined if there is none. */
type Combine = (values: unknown[]) => unknown

const areNumbers = (values: unknown[]): values is number[] => values.every((value) => typeof value === 'number')
const greatest: Combine = (values) => (areNumbers(values) ? Math.max(...values) : equal(values))
const least: Combine = (values) => (areNumbers(values) ? Math.min(...values) : equal(values))
const any: Combine = (values) => values.some((value) => value === true)

/** Returns the common value, or undefined if the values differ. */
export const equal: Combine = ([first, ...others]) =>
  others.every((other) => isDeepStrictEqual(first, other)) ? first : undefined

const union: Combine = (values) => [...new Set(values.flat())]

const intersection: Combine = (values) => {
  const [first = [], ...others] = values.map((value) => [value].flat())
  const common = first.filter((item) => others.every((other) => other.some((one) => isDeepStrictEqual(one, item))))
  return common.length > 0 ? common : undefined
}

const sharedTypes: Combine = (values) => {
  const common = commonTypes(values.map((type) => ({ type }))) ?? []
  // An integer is a number (JSON Schema 2020-12, validation, section 6.1.1).
  const types = common.filter((type) => type !== 'integer' || !common.includes('number'))
  return types.length < 2 ? types[0] : types
}

const joined: Combine = (values) => [...new Set(values)].join('\n')

const combines: Record<string, Combine> = {
  type: sharedTypes,
  enum: intersection,
  required: union,
  title: joined,
  description: joined,
  $comment: joined,
  examples: union,
  uniqueItems: any,
  deprecated: any,
  readOnly: any,
  writeOnly: any,
  minimum: greatest,
  exclusiveMinimum: greatest,
  minLength: greatest,
  minItems: greatest,
  minProperties: greatest,
  maximum: least,
  exclusiveMaximum: least,
  maxLength: least,
  maxItems: least,
  maxProperties: least,
}

/** Returns the value of a keyword that is equivalent to all of these values together, or undefined if there is none. */
export const combined = (keyword: string, values: unknown[]): unknown =>
  values.length === 1 || !Object.hasOwn(combines, keyword) ? equal(values) : combines[keyword]?.(values)

/**
 * Returns a schema with `type` and `required` sorted, since their order has no meaning, and without an empty
 * `required`.
 */
export function ordered({ required, ...schema }: Record<string, unknown>): Record<string, unknown> {
  const types = Array.isArray(schema.type) ? { type: [...schema.type].sort() } : {}
  const names = Array.isArray(required) ? [...required].sort() : required
  return { ...schema, ...types, ...(names === undefined || [names].flat().length === 0 ? {} : { required: names }) }
}

/** The pointer of a schema. `shared` means that it was reached through a $ref, so it is also used elsewhere. */
export type Source = { pointer: string; shared: boolean }

/** A schema without its allOf and its $ref. */
export type LocatedPart = Source & { own: Node }

/**
 * Returns the parts that a value must satisfy to satisfy all of the schemas, as `partsOf` finds them, with their
 * locations. Returns undefined for endless recursion, for the schema `false`, and for a reference to something outside
 * the document.
 */
export function locatedParts(document: object, sources: Source[]): LocatedPart[] | undefined {
  const found = new Map<Node, LocatedPart>()
  for (const source of sources) {
    const schema = resolve(document, source.pointer)
    if (schema === true) continue
    if (!isNode(schema)) return undefined
    for (const part of partsOf(document, schema)) {
      if (!isMergeable(document, part)) return undefined
      if (found.has(part.schema)) continue
      const { $ref: _, allOf: __, ...own } = part.schema
      found.set(part.schema, { ...placeOf(part, found, source), own })
    }
  }
  return [...found.values()]
}

/** Returns whether all that a part refers to or contains are parts, too, and none of them contains it. */
function isMergeable(document: object, part: Part): boolean {
  const { $ref, allOf = [] } = part.schema
  if (!Array.isArray(allOf) || ($ref !== undefined && typeof $ref !== 'string')) return false
  const held = $ref === undefined ? allOf : [resolve(document, $ref), ...allOf]
  const above = new Set<unknown>()
  for (let one: Part | undefined = part; one !== undefined; one = one.holder) above.add(one.schema)
  return held.every((next) => next === true || (isNode(next) && !above.has(next)))
}

/** Returns the location of a part of a source, from that of its holder. */
function placeOf({ schema, holder, reference }: Part, found: Map<Node, LocatedPart>, source: Source): Source {
  if (holder === undefined) return source
  const { pointer, shared } = found.get(holder.schema) as LocatedPart
  if (reference !== undefined) return { pointer: targetOf(reference), shared: true }
  return { pointer: join(pointer, 'allOf', String((holder.schema.allOf as unknown[]).indexOf(schema))), shared }
}

/** Returns the sources without those whose schema equals an earlier one. */
export const distinctSources = (document: object, sources: Source[]): Source[] =>
  sources.filter(function isFirst({ pointer }, index) {
    const schema = resolve(document, pointer)
    return sources.slice(0, index).every((earlier) => !isDeepStrictEqual(resolve(document, earlier.pointer), schema))
  })

/** Returns the target pointer of a $ref in normalized form. */
export const targetOf = ($ref: string): string => join('#', ...keysOf($ref))

/** Returns the pointers in normalized form that the texts of a document refer to, by a $ref or in a mapping. */
export const pointersIn = (document: object): string[] =>
  Array.from(JSON.stringify(document).matchAll(/"#\/(?:[^"\\]|\\.)*"/g), ([text]) => targetOf(JSON.parse(text)))

/** Returns whether a value is a schema with a $ref. */
export const isReferring = (schema: unknown): schema is { $ref: string } =>
  isNode(schema) && typeof schema.$ref === 'string'

/** Returns whether a schema is a $ref without siblings. */
export const isReference = (schema: Node) => isReferring(schema) && Object.keys(schema).length === 1

/** Returns whether a schema has neither subschemas nor a $ref. */
export const isLeaf = (schema: Node): boolean =>
  !Object.keys(schema).some((keyword) => keyword === '$ref' || Object.hasOwn(schemaKeywords, keyword))

/** Returns the $ref of a schema or of a member of its allOf, or undefined if there are several. */
export function onlyReference(schema: unknown): string | undefined {
  if (!isNode(schema)) return undefined
  const { allOf = [] } = schema
  const [{ $ref } = {}, second] = [schema, allOf].flat().filter(isReferring)
  return second === undefined ? $ref : undefined
}

/**
 * Returns the $ref of a schema that has one, or that only wraps one in an allOf. Returns undefined for other schemas
 * and for circular references.
 */
export function wrappedTarget(document: object, schema: Node): string | undefined {
  const target = wrapped(schema)
  const seen = new Set<string>()
  for (let next = target; next !== undefined; next = wrapped(resolve(document, targetOf(next)))) {
    if (seen.has(next)) return undefined
    seen.add(next)
  }
  return target
}

function wrapped(schema: unknown): string | undefined {
  if (!isNode(schema)) return undefined
  const { $ref, allOf } = schema
  if (allOf === undefined) return typeof $ref === 'string' ? $ref : undefined
  const [only, second] = Array.isArray(allOf) ? allOf : []
  const isWrapper = $ref === undefined && second === undefined && isNode(only) && Object.keys(only).length === 1
  return isWrapper ? wrapped(only) : undefined
}

/** Returns the pointers of all ancestors of a pointer. */
export const pointersAbove = (pointer: string): string[] => {
  const keys = pointer.split('/')
  return keys.slice(1).map((_, index) => keys.slice(0, index + 1).join('/'))
}

/** Returns the pointer that a pointer resolves to after following each $ref along its path. */
export function resolvedPointer(document: object, pointer: string): string {
  let place = '#'
  for (const key of keysOf(pointer)) {
    for (let hops = 0, node = resolve(document, place); isReferring(node) && hops < maximumHops; hops++) {
      if (Object.hasOwn(node, key)) break
      place = targetOf(node.$ref)
      node = resolve(document, place)
    }
    place = join(place, key)
  }
  return place
}

/** The maximum number of references to follow in a row, which ends circular references. */
const maximumHops = 100
