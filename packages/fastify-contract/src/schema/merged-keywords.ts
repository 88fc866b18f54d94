import { inPlaceKeywords, type Schema, schemasIn } from '../contract/schema-keywords.ts'
import { comparedKeywords, exactKeyword, ignoredKeyword, linearKeyword } from './exact-keywords.ts'
import { compilePattern } from './string-keywords.ts'

/** A schema that is an object of keywords. */
export type ObjectSchema = Exclude<Schema, boolean>

/** The merged keywords of all schemas that apply to one location. */
export type MergedKeywords = {
  /** These schemas and those that they refer to in place. */
  schemas: Set<ObjectSchema>
  /** Whether a schema in place is `false`. */
  hasFalse: boolean
  properties: Map<string, Schema[]>
  /** The patternProperties: each schema applies to the names that match its pattern. */
  patterns: [RegExp, Schema][]
  items: Schema[]
  /** The schemas of members that no property or pattern describes; undefined if no schema describes them. */
  others: Schema[] | undefined
  /** Whether a valid value stays valid without members that no schema describes, here and in its own members. */
  isPlain: boolean
}

/**
 * The keywords of a plain schema. Those of objects assert nothing about members that they do not list; the others
 * assert nothing about members at all. `required` must list described names.
 */
export const plainKeywords: ReadonlySet<string> = new Set(
  (
    '$ref allOf type properties patternProperties additionalProperties unevaluatedProperties required maxProperties ' +
    'prefixItems items minItems maxItems format pattern minLength maxLength minimum maximum ' +
    'exclusiveMinimum exclusiveMaximum multipleOf default deprecated ' +
    `readOnly writeOnly contentEncoding contentMediaType ${ignoredKeyword} ${linearKeyword} ${comparedKeywords.map(exactKeyword).join(' ')}`
  ).split(' '),
)

/** The keywords that apply a schema to members. */
export const memberKeywords = ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties']

/** Returns whether a keyword is a union of which at most one alternative allows objects or arrays. */
const isOptional = (schema: ObjectSchema, keyword: string): boolean =>
  (keyword === 'anyOf' || keyword === 'oneOf') &&
  schemasIn(schema, keyword).filter((one) => !hasOnlyScalars(one)).length <= 1

function hasOnlyScalars(schema: Schema): boolean {
  const { type } = schema as { type?: string | string[] }
  return type !== undefined && [type].flat().every((each) => each !== 'object' && each !== 'array')
}

/** Merges the keywords of schemas that describe the same value. */
export function mergeKeywords(shared: Record<string, Schema>, schemas: Schema[]): MergedKeywords {
  const merged: MergedKeywords = {
    schemas: new Set(),
    hasFalse: false,
    properties: new Map(),
    patterns: [],
    items: [],
    others: undefined,
    isPlain: true,
  }
  const required: string[] = []
  let objects = 0
  const add = (schema: Schema | undefined) => {
    if (typeof schema === 'object') merged.schemas.add(schema)
    else if (schema === false) merged.hasFalse = true
  }
  schemas.forEach(add)
  // The iteration of a set includes what is added meanwhile: recursion would overflow the stack in long chains.
  for (const schema of merged.schemas) {
    const { $ref, properties = {}, patternProperties = {}, required: names = [] } = schema as Keywords
    if ($ref !== undefined) add(shared[$ref.slice(0, -1)])
    if (!Object.keys(schema).every((keyword) => plainKeywords.has(keyword) || isOptional(schema, keyword))) {
      merged.isPlain = false
    }
    required.push(...names)
    if (memberKeywords.some((keyword) => keyword in schema)) objects++
    for (const keyword of inPlaceKeywords) for (const branch of schemasIn(schema, keyword)) add(branch)
    for (const [name, property] of Object.entries(properties)) {
      merged.properties.set(name, [...(merged.properties.get(name) ?? []), property])
    }
    merged.items.push(...schemasIn(schema, 'prefixItems'), ...schemasIn(schema, 'items'))
    for (const [pattern, property] of Object.entries(patternProperties)) {
      merged.patterns.push([compilePattern(pattern), property])
    }
    for (const keyword of ['additionalProperties', 'unevaluatedProperties']) {
      for (const other of schemasIn(schema, keyword))
        if (other !== false) merged.others = [...(merged.others ?? []), other]
    }
  }
  // Of several schemas, one whose additionalProperties is a schema also applies it to properties that others describe.
  if (objects > 1 && merged.others?.some((other) => typeof other === 'object')) merged.isPlain = false
  if (!required.every((name) => merged.properties.has(name))) merged.isPlain = false
  // An object without any described properties is written whole.
  if (merged.properties.size + merged.patterns.length === 0) merged.others ??= []
  return merged
}

type Keywords = {
  $ref?: string
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
}

/** Returns whether only the properties have schemas, so that an object is written in their order. */
export const listsAll = ({ patterns, others }: MergedKeywords): boolean => others === undefined && patterns.length === 0

/** Returns the schemas of merged keywords without those that are only a reference. */
export const describedBy = ({ schemas }: MergedKeywords): ObjectSchema[] =>
  [...schemas].filter((schema) => Object.keys(schema).join() !== '$ref')

/** Returns the names of the properties that schemas require. */
export const requiredOf = (schemas: ObjectSchema[]): Set<string> =>
  new Set(schemas.flatMap(({ required }) => (required ?? []) as string[]))

/** Returns a function that gives two lists of schemas the same text if and only if they have equal schemas. */
export function schemaIdentities(): (schemas: Schema[]) => string {
  const texts = new Map<Schema, string>()
  const numbers = new Map<string, number>()
  const numberOf = (schema: Schema): number => {
    const text = texts.get(schema) ?? JSON.stringify(schema)
    texts.set(schema, text)
    if (!numbers.has(text)) numbers.set(text, numbers.size)
    return numbers.get(text) as number
  }
  return (schemas) => [...new Set(schemas.map(numberOf).sort())].join()
}
