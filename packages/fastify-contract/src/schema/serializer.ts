import { inPlaceKeywords, type Schema, schemasIn } from '../contract/schema-keywords.ts'
import { comparedKeywords, exactKeyword, ignoredKeyword, isIgnored, linearKeyword } from './exact-keywords.ts'
import { compilePattern } from './string-keywords.ts'

/** Returns the JSON text of a value that is valid under its schema. */
export type Serialize = (value: unknown) => string

/** Characters that JSON.stringify may escape. This test is cheaper than JSON.stringify. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 section 7 wants them escaped
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/

/** Characters. Comparing those of a shorter text costs less than a regular expression. */
const maxCompared = 40

function mayNeedEscapes(text: string): boolean {
  if (text.length > maxCompared) return escaped.test(text)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)) return true
  }
  return false
}

/** Returns the JSON text of a string without the quotes around it. */
export const unquoted = (text: string): string => (mayNeedEscapes(text) ? JSON.stringify(text).slice(1, -1) : text)

const quote = (text: string): string => `"${unquoted(text)}"`

/** Returns the JSON text of a value as it is, with each bigint as an integer. JSON.stringify throws for a bigint. */
export function json(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  // JSON.stringify takes longer for a number.
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return list(value, json)
  return object(Object.keys(value), value, () => json)
}

function list(values: unknown[], write: Serialize): string {
  let text = '['
  for (let index = 0; index < values.length; index++) text += (index === 0 ? '' : ',') + write(values[index])
  return `${text}]`
}

/** Writes the own members with these names; `writerOf` returns undefined for a member that is not written. */
function object(names: Iterable<string>, value: object, writerOf: (name: string) => Serialize | undefined): string {
  let text = '{'
  for (const name of names) {
    const member = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
    const write = member === undefined ? undefined : writerOf(name)
    if (write !== undefined) text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${write(member)}`
  }
  return `${text}}`
}

/**
 * Returns the serializer of one schema, for values that are valid under it. It leaves out ignored properties, and those
 * that a plain object schema does not list. A schema is plain if it has only `plainKeywords` and no keyword above it
 * looks into its members: then the value stays valid without the unlisted properties. Everything else is written as it
 * is. A bigint becomes an integer; fast-json-stringify rounds it on newer versions of V8.
 */
export function createSerializer(shared: Record<string, Schema>, schema: Schema): Serialize {
  const identityOf = schemaIdentities()
  const writers = new Map<string, Serialize>()
  return writerOf([schema], true)

  /**
   * Returns the function that writes the values that these schemas describe together. `isRemovalSafe` tells that no
   * keyword above these schemas looks into the members of their values.
   */
  function writerOf(schemas: Schema[], isRemovalSafe: boolean): Serialize {
    const merged = mergeKeywords(shared, schemas)
    if (isWhole(shared, merged)) return json
    // A schema may contain itself, so the same schemas share one function.
    const identity = `${isRemovalSafe} ${identityOf(merged)}`
    const writer = writers.get(identity) ?? writerFor(merged, isRemovalSafe && merged.isPlain)
    writers.set(identity, writer)
    return writer
  }

  function writerFor(merged: MergedKeywords, isRemovalSafe: boolean): Serialize {
    const { properties, patterns, items, others } = merged
    let item: Serialize | undefined
    const writeItem: Serialize = (value) => {
      item ??= writerOf(items, isRemovalSafe)
      return item(value)
    }
    const known = new Map<string, Serialize | undefined>()
    const memberWriter = (name: string): Serialize | undefined => {
      const own = properties.get(name)
      // A property has its own writer. Other members share one if their names match the same patterns.
      const matches = patterns.map(([pattern]) => pattern.test(name))
      const key = own === undefined ? String(matches) : JSON.stringify(name)
      if (!known.has(key)) {
        const matching = patterns.flatMap(([, schema], index) => (matches[index] ? [schema] : []))
        const described = [...(own ?? []), ...matching]
        const schemas = described.length > 0 ? described : (others ?? (isRemovalSafe ? undefined : []))
        const isWritten = schemas !== undefined && own?.some(isIgnored) !== true
        known.set(key, isWritten ? writerOf(schemas, isRemovalSafe) : undefined)
      }
      return known.get(key)
    }
    const isListed = isRemovalSafe && listsAll(merged)
    return (value) => {
      if (typeof value !== 'object' || value === null) return json(value)
      if (Array.isArray(value)) return list(value, writeItem)
      return object(isListed ? properties.keys() : Object.keys(value), value, memberWriter)
    }
  }
}

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

/**
 * Returns whether every value of merged keywords is written as it is: they describe no properties, and neither do the
 * schemas of items and other members.
 */
function isWhole(shared: Record<string, Schema>, { properties, patterns, items, others = [] }: MergedKeywords) {
  const isScalar = (schema: Schema) => {
    const { properties, patterns, items, others = [] } = mergeKeywords(shared, [schema])
    return properties.size + patterns.length + items.length + others.length === 0
  }
  return properties.size + patterns.length === 0 && [...items, ...others].every(isScalar)
}

/** Returns whether only the properties have schemas, so that an object is written in their order. */
export const listsAll = ({ patterns, others }: MergedKeywords): boolean => others === undefined && patterns.length === 0

/** Returns the schemas of merged keywords without those that are only a reference. */
export const describedBy = ({ schemas }: MergedKeywords): ObjectSchema[] =>
  [...schemas].filter((schema) => Object.keys(schema).join() !== '$ref')

/** Returns a function that gives two sets of merged keywords the same text if and only if their schemas are equal. */
export function schemaIdentities(): (merged: MergedKeywords) => string {
  const texts = new Map<Schema, string>()
  const numbers = new Map<string, number>()
  const numberOf = (schema: Schema): number => {
    const text = texts.get(schema) ?? JSON.stringify(schema)
    texts.set(schema, text)
    if (!numbers.has(text)) numbers.set(text, numbers.size)
    return numbers.get(text) as number
  }
  return (merged) => [...new Set(describedBy(merged).map(numberOf).sort())].join()
}

/** Returns code that checks a value under a keyword, whose own value is `limit`; `expression` is the code of a number. */
type Check = (limit: unknown, expression: string) => string

export const numberChecks: Record<string, Check> = {
  minimum: (limit, number) => `${number} >= ${limit}`,
  maximum: (limit, number) => `${number} <= ${limit}`,
  exclusiveMinimum: (limit, number) => `${number} > ${limit}`,
  exclusiveMaximum: (limit, number) => `${number} < ${limit}`,
}
for (const [keyword, check] of Object.entries(numberChecks)) {
  numberChecks[exactKeyword(keyword)] = (limit) => check(`${limit}n`, 'value')
}
numberChecks[exactKeyword('multipleOf')] = (divisor) =>
  `Number.isInteger(Number(value)) && BigInt(value) % ${divisor}n === 0n`

export const stringChecks: Record<string, Check> = {
  // A text has at least half as many characters as UTF-16 code units.
  minLength: (limit) => `(value.length >= ${2 * Number(limit)} || ucs2length(value) >= ${limit})`,
  maxLength: (limit) => `(value.length <= ${limit} || ucs2length(value) <= ${limit})`,
  format: (name) => `hasFormat(${JSON.stringify(name)}, value)`,
}

export const arrayChecks: Record<string, Check> = {
  minItems: (limit) => `value.length >= ${limit}`,
  maxItems: (limit) => `value.length <= ${limit}`,
}

/** Returns the code of a condition that holds if all conditions do. */
export const all = (conditions: string[]): string => (conditions.length === 0 ? 'true' : conditions.join(' && '))

/** Returns the conditions under which a value satisfies each keyword of `checks` in each schema. */
export const conditionsOf = (described: ObjectSchema[], checks: Record<string, Check>, number = 'value'): string[] =>
  described.flatMap((schema) =>
    Object.entries(checks).flatMap(([keyword, check]) => (keyword in schema ? [check(schema[keyword], number)] : [])),
  )

/** Returns the conditions under which a value is one of those that `enum` and `const` of each schema list. */
export const constantConditions = (described: ObjectSchema[]): string[] =>
  described
    .flatMap((schema) => [
      ...(schema.enum === undefined ? [] : [schema.enum as unknown[]]),
      ...(schema.const === undefined ? [] : [[schema.const]]),
    ])
    .map((values) => `(${['false', ...values.map((one) => `value === ${JSON.stringify(one)}`)].join(' || ')})`)
