import type { Schema } from 'fastify-contract/contract'
import type { Document } from '../document/openapi-document.ts'
import type { Node } from '../document/walk-document.ts'
import { conditionalSchemas, demandedNames } from './example-conditions.ts'
import { exampleItems } from './example-items.ts'
import { exampleNumber, exampleText, otherNames } from './example-scalars.ts'
import { exampleKeywords, type SchemaShape, type ShapeOf, schemaShapes } from './schema-shapes.ts'

/**
 * The state of building an example. `within` are the references that lead to the current schema; each schema adds its own
 * while it is made. `name` is that of the member with the current schema. Depth and budget bound it: the examples of
 * recursive schemas have no natural size. `calls` is the depth of alternatives inside of each other as well.
 */
type Progress = {
  making: Making
  variant: number
  within: Set<string>
  depth: number
  calls: number
  budget: { left: number }
  name: string
}

/**
 * What is made: `keywords` are those whose values are used, and `variant` numbers the values of one schema, which differ if
 * possible. A minimal value has required properties only. `alternative` is the index of the first of the alternatives of
 * `oneOf` and `anyOf` that is tried.
 */
type Making = { keywords: string[]; isFilled: boolean; variant: number; isMinimal: boolean; alternative: number }

/** The maximum number of values of one example, and how many are reserved for required properties. */
const maxValues = 1000
const reserved = 500
/** From this depth on, an example has required properties only. */
const optionalDepth = 4
/** The maximum depth of an example, and of alternatives inside of each other. No service accepts deeper JSON. */
const maxDepth = 128

/**
 * Returns an example value of a schema: its own example, or one built from the examples of its parts, or else from its
 * keywords. Returns undefined for a schema that contains itself or allows nothing, so that the property is omitted. The
 * value usually satisfies the schema, but this is not guaranteed.
 */
export const exampleOf = (document: Document, schema: Schema): unknown => make(document, schema, given)

/**
 * Returns an example value for a request: like `exampleOf`, but generated strings and maps are not empty if possible.
 *
 * @param name The name of the parameter that has the value.
 */
export const filledExampleOf = (document: Document, schema: Schema, name?: string): unknown =>
  make(document, schema, filled, name)

const usual: Making = { keywords: ['const', 'enum'], isFilled: false, variant: 0, isMinimal: false, alternative: 0 }
const given: Making = { ...usual, keywords: exampleKeywords }
const filled: Making = { ...given, isFilled: true }

/** How values are made without examples, in case the ones before break a keyword that the maker does not know. */
const generated: Making[] = [
  usual,
  { ...usual, isMinimal: true },
  { ...usual, variant: 1 },
  { ...usual, variant: 2, isMinimal: true },
]
// A value of the first alternative of a `oneOf` may satisfy another one, too.
for (const alternative of [1, 2, 3, 4])
  generated.push({ ...usual, alternative }, { ...usual, alternative, isMinimal: true })

/** How many values `generatedValue` makes of one schema. */
export const generatedCount = generated.length

/** Returns a value that is built from the keywords of a schema alone, without its examples. */
export const generatedValue = (document: Document, schema: Schema, index = 0): unknown =>
  make(document, schema, generated[index] as Making)

/** What was made of each document, which no stage changes: many operations have the same schemas. */
const known = new WeakMap<Document, { shapeOf: ShapeOf; values: Map<Making, Map<unknown, unknown>> }>()

function make(document: Document, schema: Schema, making: Making, name?: string): unknown {
  const { shapeOf, values } = known.get(document) ?? { shapeOf: schemaShapes(document), values: new Map() }
  known.set(document, { shapeOf, values })
  const made = values.get(making) ?? new Map<unknown, unknown>()
  values.set(making, made)
  const key = isLoneReference(schema) ? schema.$ref : schema
  if (name === undefined && made.has(key)) return made.get(key)
  const { variant } = making
  const start = { making, variant, within: new Set<string>(), depth: 0, calls: 0, budget: { left: maxValues } }
  const value = makeValue(shapeOf, schema, { ...start, name: name ?? 'text' })
  if (name === undefined) made.set(key, value)
  return value
}

const isLoneReference = (schema: Schema): schema is Node =>
  typeof schema === 'object' && schema.$ref !== undefined && Object.keys(schema).length === 1

/**
 * Returns the schema's own example, or else an object with examples of its members, or else the example of a part, or
 * else the first alternative that has a value, or else an array or a scalar that is built from the keywords.
 */
function makeValue(shapeOf: ShapeOf, schema: Schema, progress: Progress): unknown {
  const shape = shapeOf(schema)
  const { schemas, type } = shape
  if (shape.isIgnored) return undefined
  const isWithin = shape.references.some((reference) => progress.within.has(reference))
  // An array that contains itself ends with an empty one, which a required property needs.
  if (isWithin && progress.depth > 1 && shape.isEmptyList) return []
  if (schema === false || isWithin || progress.budget.left <= 0) return undefined
  if (progress.depth > maxDepth || progress.calls > maxDepth) return undefined
  progress.budget.left--
  const own = givenIn(shape.ownGivers, progress)
  if (own !== undefined) return own.value
  const chosen = chosenAlternatives(shapeOf, shape, progress)
  // No alternative has a value, so the schema has none.
  if (chosen.length === 0 && shape.alternatives.length > 0 && !shape.hasMembers) return undefined
  const given = givenIn(shape.givers, progress) ?? (chosen.length > 0 ? { value: chosen[0] } : undefined)
  const isOpen = given === undefined || isObject(given.value) || shape.hasMembers
  const likely = type ?? (isOpen ? 'object' : 'null')
  if (likely === 'object') {
    const value = Object(objectOf(shapeOf, shape, chosen, progress))
    if (!shape.isConditional) return value
    const next = { ...progress, calls: progress.calls + 1 }
    const more = conditionalSchemas(schemas, value).map((one) => makeValue(shapeOf, one, next))
    return more.includes(undefined) ? undefined : Object.fromEntries([value, ...more].flatMap(Object.entries))
  }
  if (given !== undefined) return given.value
  return likely === 'array' ? itemsOf(shapeOf, shape, progress) : scalarOf(schemas, likely, progress)
}

const scalars: Record<string, (schemas: Node[], progress: Progress) => unknown> = {
  string: (schemas, { making, variant, name }) =>
    (making.isFilled && exampleText([...schemas, { minLength: 1 }], variant, name)) ||
    exampleText(schemas, variant, name),
  integer: (schemas, { variant }) => exampleNumber(schemas, true, variant),
  number: (schemas, { variant }) => exampleNumber(schemas, false, variant),
  boolean: (_schemas, { variant }) => variant % 2 === 1,
}

const scalarOf = (schemas: Node[], type: string, progress: Progress): unknown =>
  Object.hasOwn(scalars, type) ? scalars[type]?.(schemas, progress) : null

function givenIn(givers: Node[], { making, variant }: Progress): { value: unknown } | undefined {
  if (givers.length === 0) return undefined
  for (const keyword of making.keywords) {
    for (const schema of givers) {
      if (!Object.hasOwn(schema, keyword)) continue
      const isList = keyword === 'examples' || keyword === 'enum'
      const values = isList ? [schema[keyword]].flat() : [schema[keyword]]
      // Only one variant can have a single example.
      if (!isList && keyword !== 'const' && variant > 0) continue
      const fitting = keyword === 'enum' ? inEachEnum(values, givers, variant) : values
      const value = fitting.length > 0 ? fitting[variant % fitting.length] : values[0]
      if (value !== undefined) return { value }
    }
  }
  return undefined
}

/**
 * Returns the first `variant + 1` of the values that the `enum` of each schema has, or fewer: each part of an `allOf` may
 * have one, and a child's discriminator allows fewer values than its parent's.
 */
function inEachEnum(values: unknown[], schemas: Node[], variant: number): unknown[] {
  const lists = schemas.flatMap((schema) => (schema.enum === undefined ? [] : [[schema.enum as unknown[]].flat()]))
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

/** Returns, for each schema with alternatives, a value of the first alternative that has one. */
function chosenAlternatives(shapeOf: ShapeOf, { alternatives }: SchemaShape, progress: Progress): unknown[] {
  const values: unknown[] = []
  for (const { all, references } of alternatives) {
    const first = progress.making.alternative % all.length
    const value = inside(progress, references, function firstValue() {
      const next = { ...progress, calls: progress.calls + 1 }
      for (const one of [...all.slice(first), ...all.slice(0, first)]) {
        const made = makeValue(shapeOf, one, next)
        if (made !== undefined) return made
      }
      return undefined
    })
    if (value !== undefined) values.push(value)
  }
  return values
}

/** Makes something inside of some references. */
function inside<Made>({ within }: Progress, references: string[], made: () => Made): Made {
  const added = references.filter((reference) => !within.has(reference))
  for (const reference of added) within.add(reference)
  const result = made()
  for (const reference of added) within.delete(reference)
  return result
}

function itemsOf(shapeOf: ShapeOf, { schemas, allReferences }: SchemaShape, progress: Progress): unknown[] {
  return inside(progress, allReferences(), () =>
    exampleItems(schemas, (schema, variant) =>
      makeValue(shapeOf, schema, { ...progress, depth: progress.depth + 1, variant: variant + progress.variant }),
    ),
  )
}

const isObject = (value: unknown): boolean => Object(value) === value && !Array.isArray(value)

/** The value of a member that an alternative requires and does not describe. The schema that has the alternative may. */
const undescribed = Object.freeze({})

/** Returns an object with the members of examples and alternatives, and others as far as they fit or are required. */
function objectOf(shapeOf: ShapeOf, shape: SchemaShape, chosen: unknown[], progress: Progress): unknown {
  const { schemas, required } = shape
  const { making, budget, depth } = progress
  const examples = shape.otherGivers.map((giver) => givenIn([giver], progress)?.value)
  const members = new Map<string, unknown>(
    [...examples, ...chosen].filter(isObject).flatMap((value) => Object.entries(value as object)),
  )
  for (const name of shape.names) {
    const includesOptional = !making.isMinimal && depth < optionalDepth && budget.left > reserved
    if (budget.left <= 0 || (!required.has(name) && !members.has(name) && !includesOptional)) continue
    if (!members.has(name) || members.get(name) === undescribed || isFixed(name)) add(name)
  }
  if (shape.isConditional) for (const name of demandedNames(schemas, members)) if (!members.has(name)) add(name)
  const least = Math.max(making.isFilled && shape.isMap ? 1 : 0, shape.least)
  for (const name of members.size < least ? otherNames(schemas) : []) {
    if (!members.has(name)) add(name)
    if (members.size >= least) break
  }
  return Object.fromEntries(members)

  function add(name: string): void {
    const { schema, references } = shape.memberOf(name)
    const next = { ...progress, depth: depth + 1, name }
    const value =
      schema === undefined ? undescribed : inside(progress, references, () => makeValue(shapeOf, schema, next))
    if (value !== undefined) members.set(name, value)
  }

  function isFixed(name: string): boolean {
    const { schema } = shape.memberOf(name)
    return schema !== undefined && shapeOf(schema).isFixed
  }
}
