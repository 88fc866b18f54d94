import { type Schema, schemasIn } from 'fastify-contract/contract'
import { isIgnored } from 'fastify-contract/schema'
import type { Document } from '../document/openapi-document.ts'
import {
  commonTypes,
  memberSchemas,
  numbersOf,
  type Part,
  partsOf,
  referencesOf,
  schemasOfParts,
} from '../document/schemas.ts'
import type { Node } from '../document/walk-document.ts'
import { conditionalSchemas, demandedNames } from './example-conditions.ts'
import { exampleItems, together } from './example-items.ts'
import { exampleNumber, exampleText, otherNames } from './example-scalars.ts'

/** Keywords whose value is an example, in order of preference. */
const exampleKeywords = ['const', 'example', 'examples', 'default', 'enum']

/**
 * The state of building an example. `within` are the references that lead to the current schema, and `keywords` are the
 * keywords whose values are used. `name` is that of the member with the current schema. Depth and budget bound it: the
 * examples of recursive schemas have no natural size.
 */
type Progress = Making & { within: Set<string>; depth: number; budget: { left: number }; name: string }

/**
 * What is made: `variant` numbers the values of one schema, which differ if possible. A minimal value has required
 * properties only. `alternative` is the index of the first of the alternatives of `oneOf` and `anyOf` that is tried.
 */
type Making = { keywords: string[]; isFilled: boolean; variant: number; isMinimal: boolean; alternative: number }

/** The maximum number of values of one example, and how many are reserved for required properties. */
const maxValues = 1000
const reserved = 500
/** The maximum number of schemas that describe one value together. Each member of an object is searched in all of them. */
const maxParts = 500
/** From this depth on, an example has required properties only. */
const optionalDepth = 4

/**
 * Returns an example value of a schema: its own example, or one built from the examples of its parts, or else from its
 * keywords. Returns undefined for a schema that contains itself or allows nothing, so that the property is omitted. The
 * value usually satisfies the schema, but this is not guaranteed.
 */
export const exampleOf = (document: Document, schema: Schema): unknown => make(document, schema, exampleKeywords)

/**
 * Returns an example value for a request: like `exampleOf`, but generated strings and maps are not empty if possible.
 *
 * @param name The name of the parameter that has the value.
 */
export const filledExampleOf = (document: Document, schema: Schema, name?: string): unknown =>
  make(document, schema, exampleKeywords, { isFilled: true }, name)

/** How values are made without examples, in case the ones before break a keyword that the maker does not know. */
const generated: Partial<Making>[] = [{}, { isMinimal: true }, { variant: 1 }, { variant: 2, isMinimal: true }]
// A value of the first alternative of a `oneOf` may satisfy another one, too.
for (const alternative of [1, 2, 3, 4]) generated.push({ alternative }, { alternative, isMinimal: true })

/** How many values `generatedValue` makes of one schema. */
export const generatedCount = generated.length

/** Returns a value that is built from the keywords of a schema alone, without its examples. */
export const generatedValue = (document: Document, schema: Schema, index = 0): unknown =>
  make(document, schema, ['const', 'enum'], generated[index])

function make(
  document: Document,
  schema: Schema,
  keywords: string[],
  making: Partial<Making> = {},
  name = 'text',
): unknown {
  const usual = { keywords, isFilled: false, variant: 0, isMinimal: false, alternative: 0 }
  const start = { within: new Set<string>(), depth: 0, budget: { left: maxValues }, name }
  return makeValue(document, schema, { ...start, ...usual, ...making })
}

/**
 * Returns the schema's own example, or else an object with examples of its members, or else the example of a part, or
 * else the first alternative that has a value, or else an array or a scalar that is built from the keywords.
 */
function makeValue(document: Document, schema: Schema, progress: Progress): unknown {
  const parts = partsOf(document, schema, maxParts)
  const isWithin = parts.some(({ reference }) => reference !== undefined && progress.within.has(reference))
  if (parts.some((part) => isIgnored(part.schema))) return undefined
  // An array that contains itself ends with an empty one, which a required property needs.
  if (isWithin && progress.depth > 1 && isEmptyList(parts)) return []
  if (schema === false || isWithin || progress.budget.left <= 0) return undefined
  progress.budget.left--
  const own = givenIn(
    parts.filter(({ isOwn }) => isOwn),
    progress,
  )
  if (own !== undefined) return own.value
  const schemas = schemasOfParts(parts)
  const chosen = chosenAlternatives(document, parts, progress)
  // No alternative has a value, so the schema has none.
  if (chosen.length === 0 && schemas.some(hasAlternatives) && !schemas.some(isObjectSchema)) return undefined
  const given = givenIn(parts, progress) ?? (chosen.length > 0 ? { value: chosen[0] } : undefined)
  const isOpen = given === undefined || isObject(given.value) || schemas.some(isObjectSchema)
  const type = commonTypes(schemas)?.[0] ?? (isOpen ? 'object' : 'null')
  if (type === 'object') {
    const value = Object(objectOf(document, parts, chosen, progress))
    const more = conditionalSchemas(schemas, value).map((one) => makeValue(document, one, progress))
    return more.includes(undefined) ? undefined : Object.fromEntries([value, ...more].flatMap(Object.entries))
  }
  if (given !== undefined) return given.value
  return type === 'array' ? itemsOf(document, parts, progress) : scalarOf(schemas, type, progress)
}

function isEmptyList(parts: Part[]): boolean {
  const schemas = schemasOfParts(parts)
  return commonTypes(schemas)?.join() === 'array' && numbersOf(schemas, 'minItems').every((least) => least === 0)
}

const scalars: Record<string, (schemas: Node[], progress: Progress) => unknown> = {
  string: (schemas, { isFilled, variant, name }) =>
    (isFilled && exampleText([...schemas, { minLength: 1 }], variant, name)) || exampleText(schemas, variant, name),
  integer: (schemas, { variant }) => exampleNumber(schemas, true, variant),
  number: (schemas, { variant }) => exampleNumber(schemas, false, variant),
  boolean: (_schemas, { variant }) => variant % 2 === 1,
}

const scalarOf = (schemas: Node[], type: string, progress: Progress): unknown =>
  Object.hasOwn(scalars, type) ? scalars[type]?.(schemas, progress) : null

function givenIn(parts: Part[], { keywords, variant }: Progress): { value: unknown } | undefined {
  for (const keyword of keywords) {
    for (const { schema } of parts) {
      if (!Object.hasOwn(schema, keyword)) continue
      const isList = keyword === 'examples' || keyword === 'enum'
      const values = isList ? [schema[keyword]].flat() : [schema[keyword]]
      // Only one variant can have a single example.
      if (!isList && keyword !== 'const' && variant > 0) continue
      const fitting = keyword === 'enum' ? inEachEnum(values, parts, variant) : values
      const value = fitting.length > 0 ? fitting[variant % fitting.length] : values[0]
      if (value !== undefined) return { value }
    }
  }
  return undefined
}

/**
 * Returns the first `variant + 1` of the values that the `enum` of each part has, or fewer: each part of an `allOf` may have
 * one, and a child's discriminator allows fewer values than its parent's.
 */
function inEachEnum(values: unknown[], parts: Part[], variant: number): unknown[] {
  const lists = parts.flatMap(({ schema }) => (schema.enum === undefined ? [] : [[schema.enum as unknown[]].flat()]))
  if (lists.length === 1) return values
  const sets = lists.map((list) => new Set(list))
  const found: unknown[] = []
  for (const value of values) {
    if (!sets.every((set) => set.has(value))) continue
    found.push(value)
    if (found.length > variant) break
  }
  return found
}

const hasAlternatives = ({ oneOf, anyOf }: Node): boolean => oneOf !== undefined || anyOf !== undefined

/** Returns, for each schema with alternatives, a value of the first alternative that has one. */
function chosenAlternatives(document: Document, parts: Part[], progress: Progress): unknown[] {
  const values: unknown[] = []
  // The references of a part lead through all of its holders, so only a part that needs them pays for them.
  for (const part of parts.filter(({ schema }) => hasAlternatives(schema))) {
    const inside = { ...progress, within: new Set([...progress.within, ...referencesOf([part])]) }
    const all = [...schemasIn(part.schema, 'oneOf'), ...schemasIn(part.schema, 'anyOf')]
    const first = progress.alternative % all.length
    for (const one of [...all.slice(first), ...all.slice(0, first)]) {
      const value = makeValue(document, one, inside)
      if (value === undefined) continue
      values.push(value)
      break
    }
  }
  return values
}

function itemsOf(document: Document, parts: Part[], progress: Progress): unknown[] {
  const inside = below(progress, parts)
  const schemas = schemasOfParts(parts)
  return exampleItems(schemas, (schema, variant) =>
    makeValue(document, schema, { ...inside, variant: variant + inside.variant }),
  )
}

const isObjectSchema = ({ type, properties, required }: Node): boolean =>
  [type].flat().includes('object') || properties !== undefined || required !== undefined

const isObject = (value: unknown): boolean => Object(value) === value && !Array.isArray(value)

/** The value of a member that an alternative requires and does not describe. The schema that has the alternative may. */
const undescribed = Object.freeze({})

/** Returns an object with the members of examples and alternatives, and others as far as they fit or are required. */
function objectOf(document: Document, parts: Part[], chosen: unknown[], progress: Progress): unknown {
  const examples = parts.filter(({ isOwn }) => !isOwn).map((part) => givenIn([part], progress)?.value)
  const members = new Map<string, unknown>(
    [...examples, ...chosen].filter(isObject).flatMap((value) => Object.entries(value as object)),
  )
  const schemaOf = (name: string) => together(parts.flatMap(({ schema }) => memberSchemas(schema, name)))
  const add = (name: string): void => {
    const holders = parts.filter(({ schema }) => memberSchemas(schema, name).length > 0)
    const value =
      holders.length === 0 ? undescribed : makeValue(document, schemaOf(name), { ...below(progress, holders), name })
    if (value !== undefined) members.set(name, value)
  }
  const isFixed = (name: string) =>
    partsOf(document, schemaOf(name), maxParts).some(
      ({ schema }) => schema.enum !== undefined || schema.const !== undefined,
    )
  const schemas = schemasOfParts(parts)
  const described = schemas.flatMap((schema) => Object.keys(Object(schema.properties)))
  const required = new Set(schemas.flatMap((schema) => (schema.required ?? []) as string[]))
  for (const name of new Set([...required, ...described])) {
    const includesOptional = !progress.isMinimal && progress.depth < optionalDepth && progress.budget.left > reserved
    if (progress.budget.left <= 0 || (!required.has(name) && !members.has(name) && !includesOptional)) continue
    if (!members.has(name) || members.get(name) === undescribed || isFixed(name)) add(name)
  }
  for (const name of demandedNames(schemas, members)) if (!members.has(name)) add(name)
  const isFilledMap = progress.isFilled && schemas.some(({ additionalProperties }) => isObject(additionalProperties))
  const least = Math.max(isFilledMap ? 1 : 0, ...numbersOf(schemas, 'minProperties'))
  for (const name of members.size < least ? otherNames(schemas) : []) {
    if (!members.has(name)) add(name)
    if (members.size >= least) break
  }
  return Object.fromEntries(members)
}

const below = ({ within, depth, ...more }: Progress, parts: Part[]): Progress => ({
  within: new Set([...within, ...referencesOf(parts)]),
  depth: depth + 1,
  ...more,
})
