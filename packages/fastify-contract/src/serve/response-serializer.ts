import type { FastifySerializerCompiler } from 'fastify/types/schema.js'
import { exactKeyword, ignoredKeyword, isIgnored, limitKeywords } from './exact-keywords.ts'
import { compilePattern } from './patterns.ts'
import { inPlaceKeywords, type Schema, schemasIn } from './schema-keywords.ts'
import type { Validator } from './validator.ts'

/** Returns the JSON text of a value that is valid under its schema. */
type Serialize = (value: unknown) => string

/**
 * Returns Fastify's serializer compiler. A compiled serializer validates a body against its schema and serializes it.
 */
export function responseSerializerCompiler(
  shared: Record<string, Schema>,
  validator: Validator,
): FastifySerializerCompiler<unknown> {
  return ({ schema }) => {
    const assertValid = validator.response(schema as Schema)
    const serialize = responseSerializer(shared, schema as Schema)
    return (value) => {
      assertValid(value)
      return serialize(value)
    }
  }
}

/**
 * Returns a serializer for values that are valid under a schema. It sends a value as it is, but for ignored properties
 * and for properties that a plain object schema does not list: one that has only `plainKeywords`, where no keyword
 * above it looks into its members. Without these properties the value is still valid, whatever they were. It writes a
 * bigint as an integer; JSON.stringify throws for one, and fast-json-stringify rounds it on newer versions of V8.
 */
export function responseSerializer(shared: Record<string, Schema>, schema: Schema): Serialize {
  return writer([schema], true)

  function writer(schemas: Schema[], isRemovalSafe: boolean): Serialize {
    // Schemas may be recursive, so the schemas below a location are resolved when a value first reaches it.
    let merged: MergedKeywords | undefined
    let item: Serialize | undefined
    const members = new Map<string, Member>()
    const others = new Map<string, Serialize | undefined>()

    function resolve(): MergedKeywords {
      merged ??= mergeKeywords(shared, schemas)
      isRemovalSafe &&= merged.isPlain
      return merged
    }

    function member(name: string): Member {
      const known = members.get(name)
      if (known !== undefined) return known
      const { properties, patterns, others: otherSchemas } = resolve()
      const own = properties.get(name)
      const matching = patterns.filter(([pattern]) => pattern.test(name))
      const key = `${JSON.stringify(name)}:`
      const memberWriter = () => {
        if (own?.some(isIgnored)) return undefined
        const described = [...(own ?? []), ...matching.map(([, schema]) => schema)]
        const memberSchemas = described.length > 0 ? described : otherSchemas
        if (memberSchemas === undefined && isRemovalSafe) return undefined
        return writer(memberSchemas ?? [], isRemovalSafe)
      }
      if (own !== undefined) {
        const made = { key, write: memberWriter() }
        members.set(name, made)
        return made
      }
      // Undescribed names are cached by the patterns that they match, so that new names cannot grow the cache.
      const matches = matching.map(([pattern]) => pattern.source).join()
      if (!others.has(matches)) others.set(matches, memberWriter())
      return { key, write: others.get(matches) }
    }

    return function write(value) {
      if (typeof value === 'string' && !escaped.test(value)) return `"${value}"`
      if (typeof value === 'bigint') return value.toString()
      if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
      if (Array.isArray(value)) {
        item ??= writer(resolve().items, isRemovalSafe)
        return `[${value.map(item).join()}]`
      }
      let text = '{'
      for (const name of Object.keys(value)) {
        const inner = (value as Record<string, unknown>)[name]
        if (inner === undefined) continue
        const { key, write } = member(name)
        if (write !== undefined) text += (text === '{' ? '' : ',') + key + write(inner)
      }
      return `${text}}`
    }
  }
}

/** Characters that JSON.stringify may escape. This test is cheaper than JSON.stringify. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 section 7 wants them escaped
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/

/** The name of a member as JSON text with its colon, and the serializer of its value; undefined if it is left out. */
type Member = { key: string; write: Serialize | undefined }

/** The merged keywords of all schemas that apply to one location. */
type MergedKeywords = {
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
const plainKeywords = new Set(
  (
    '$ref allOf type properties patternProperties additionalProperties unevaluatedProperties required maxProperties ' +
    'prefixItems items minItems maxItems format pattern minLength maxLength minimum maximum ' +
    'exclusiveMinimum exclusiveMaximum multipleOf default deprecated ' +
    `readOnly writeOnly contentEncoding contentMediaType ${ignoredKeyword} ${limitKeywords.map(exactKeyword).join(' ')}`
  ).split(' '),
)

/** The keywords that apply a schema to members. */
const memberKeywords = ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties']

/** Returns whether a keyword is a union of which at most one alternative allows objects or arrays. */
const isOptional = (schema: Exclude<Schema, boolean>, keyword: string): boolean =>
  (keyword === 'anyOf' || keyword === 'oneOf') &&
  schemasIn(schema, keyword).filter((one) => !hasOnlyScalars(one)).length <= 1

function hasOnlyScalars(schema: Schema): boolean {
  const { type } = schema as { type?: string | string[] }
  return type !== undefined && [type].flat().every((each) => each !== 'object' && each !== 'array')
}

function mergeKeywords(shared: Record<string, Schema>, schemas: Schema[]): MergedKeywords {
  const merged: MergedKeywords = { properties: new Map(), patterns: [], items: [], others: undefined, isPlain: true }
  const seen = new Set<Schema>()
  const required: string[] = []
  let objects = 0
  const add = (schema: Schema | undefined) => {
    if (typeof schema !== 'object' || seen.has(schema)) return
    seen.add(schema)
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
  schemas.forEach(add)
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
