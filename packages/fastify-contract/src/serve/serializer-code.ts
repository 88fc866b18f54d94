import { compilePattern } from './compile-pattern.ts'
import { exactKeyword, ignoredKeyword, isIgnored, limitKeywords } from './exact-keywords.ts'
import { inPlaceKeywords, type Schema, schemasIn } from './schema-keywords.ts'

/** Returns the JSON text of a value that is valid under its schema. */
export type Serialize = (value: unknown) => string

/** Characters that JSON.stringify may escape. This test is cheaper than JSON.stringify. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 section 7 wants them escaped
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/

/** Returns the JSON text of a value as it is, with each bigint as an integer. JSON.stringify throws for a bigint. */
function json(value: unknown): string {
  if (typeof value === 'string') return escaped.test(value) ? JSON.stringify(value) : `"${value}"`
  // JSON.stringify takes longer for a number.
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return list(value, json)
  let text = '{'
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) text += (text === '{' ? '' : ',') + key(name) + json(member)
  }
  return `${text}}`
}

function list(values: unknown[], write: Serialize): string {
  let text = '['
  for (let index = 0; index < values.length; index++) text += (index === 0 ? '' : ',') + write(values[index])
  return `${text}]`
}

const key = (name: string): string => `${JSON.stringify(name)}:`

/** The functions that the code of serializers calls. */
export const serializerFunctions = { json, list, key }

/** Returns the serializer of one schema. */
export function compileSerializer(shared: Record<string, Schema>, schema: Schema): Serialize {
  const writer = serializerWriter(shared)
  const name = writer.nameOf(schema)
  const names = Object.keys(serializerFunctions)
  return new Function(...names, `${writer.code()}\nreturn ${name}`)(...Object.values(serializerFunctions))
}

/** Writes the code of serializers. */
export type SerializerWriter = {
  /** Returns the name of the serializer of a schema. */
  nameOf(schema: Schema): string
  /** Returns the code of all serializers that were named. */
  code(): string
}

/**
 * Returns a writer of the code of serializers for values that are valid under their schemas. A serializer sends a value
 * as it is, but for ignored properties and for properties that a plain object schema does not list: one that has only
 * `plainKeywords`, where no keyword above it looks into its members. Without these properties the value is still valid,
 * whatever they were. It writes a bigint as an integer; fast-json-stringify rounds it on newer versions of V8.
 */
export function serializerWriter(shared: Record<string, Schema>): SerializerWriter {
  const identities = new Map<string, number>()
  const texts = new Map<Schema, string>()
  const names = new Map<string, string>()
  const named: [name: string, merged: MergedKeywords, isRemovalSafe: boolean][] = []
  const patternNames = new Map<string, string>()
  return {
    nameOf: (schema) => writerOf([schema], true),
    code() {
      // Iteration over an array includes the elements that are added meanwhile.
      const functions = []
      for (const one of named) functions.push(functionCode(...one))
      return [...Array.from(patternNames, ([pattern, name]) => `const ${name} = ${pattern}`), ...functions].join('\n')
    },
  }

  /** Returns the name of the function that writes the values that these schemas describe together. */
  function writerOf(schemas: Schema[], isRemovalSafe: boolean): string {
    const merged = mergeKeywords(shared, schemas)
    if (isWhole(merged)) return 'json'
    // A schema may contain itself, so the same schemas share one function.
    const described = [...merged.schemas].filter((schema) => Object.keys(schema).join() !== '$ref')
    const identity = [isRemovalSafe, ...new Set(described.map(identityOf).sort())].join()
    let name = names.get(identity)
    if (name === undefined) {
      name = `write${names.size}`
      names.set(identity, name)
      named.push([name, merged, isRemovalSafe && merged.isPlain])
    }
    return name
  }

  /** Returns a number that only equal schemas share. */
  function identityOf(schema: Schema): number {
    const text = texts.get(schema) ?? JSON.stringify(schema)
    texts.set(schema, text)
    if (!identities.has(text)) identities.set(text, identities.size)
    return identities.get(text) as number
  }

  /** Returns whether a function for these keywords would write every value as it is. */
  function isWhole({ properties, patterns, items, others = [] }: MergedKeywords): boolean {
    const isScalar = (schema: Schema) => {
      const { properties, patterns, items, others = [] } = mergeKeywords(shared, [schema])
      return properties.size + patterns.length + items.length + others.length === 0
    }
    return properties.size + patterns.length === 0 && [...items, ...others].every(isScalar)
  }

  function functionCode(name: string, merged: MergedKeywords, isRemovalSafe: boolean): string {
    const { properties, patterns, items, others } = merged
    const listsAll = isRemovalSafe && others === undefined && patterns.length === 0
    const objectCode = listsAll && !inheritedNames.some((name) => properties.has(name)) ? listedCode : loopCode
    return `function ${name}(value) {
if (typeof value !== "object" || value === null) return json(value)
if (Array.isArray(value)) return list(value, ${writerOf(items, isRemovalSafe)})
${objectCode()}
}`

    /** Returns code that writes the listed properties, which takes less time than a loop over all members. */
    function listedCode(): string {
      const written = [...properties].filter(([, own]) => !own.some(isIgnored))
      const lines = written.map(([property, own]) => {
        const [first, later] = [`{${key(property)}`, `,${key(property)}`].map((text) => JSON.stringify(text))
        return `member = value[${JSON.stringify(property)}]
if (member !== undefined) text += (text === "" ? ${first} : ${later}) + ${writerOf(own, true)}(member)`
      })
      return `if (Object.getPrototypeOf(value) !== Object.prototype) value = { ...value }
let member
let text = ""
${lines.join('\n')}
return text === "" ? "{}" : text + "}"`
    }

    function loopCode(): string {
      const memberCode = (key: string, described: Schema[]) => {
        const schemas = described.length > 0 ? described : others
        if (schemas === undefined && isRemovalSafe) return 'continue'
        return `part = ${key} + ${writerOf(schemas ?? [], isRemovalSafe)}(member)`
      }
      const cases = Array.from(properties, ([property, own]): [string, string] => {
        if (own.some(isIgnored)) return [property, 'continue']
        const matching = patterns.flatMap(([pattern, schema]) => (pattern.test(property) ? [schema] : []))
        return [property, memberCode(JSON.stringify(key(property)), [...own, ...matching])]
      })
      return `let text = "{"
for (const name of Object.keys(value)) {
const member = value[name]
if (member === undefined) continue
let part
${switchCode(
  cases,
  patternCode(patterns, (matching) => memberCode('key(name)', matching)),
)}
text += text === "{" ? part : "," + part
}
return text + "}"`
    }
  }

  /** Returns code that handles a member by the patterns that its name matches. */
  function patternCode(patterns: MergedKeywords['patterns'], codeOf: (matching: Schema[]) => string): string {
    if (patterns.length === 0) return codeOf([])
    const testOf = ([pattern]: [RegExp, Schema]): string => {
      const code = `new RegExp(${JSON.stringify(pattern.source)}, "${pattern.flags}")`
      if (!patternNames.has(code)) patternNames.set(code, `names${patternNames.size}`)
      return `${patternNames.get(code)}.test(name)`
    }
    // Of the patterns whose schemas describe no members it does not matter which one matches, so they share one bit.
    const isNeutral = ([, schema]: [RegExp, Schema]) => {
      const merged = mergeKeywords(shared, [schema])
      return merged.isPlain && isWhole(merged)
    }
    const neutral = patterns.filter(isNeutral)
    const bits = patterns.filter((one) => !isNeutral(one)).map((one) => ({ test: testOf(one), schema: one[1] }))
    if (neutral[0] !== undefined) bits.push({ test: neutral.map(testOf).join(' || '), schema: neutral[0][1] })
    if (bits.length > maxPatterns) {
      throw new Error(`a response has an object with ${bits.length} patternProperties; use at most ${maxPatterns}`)
    }
    const cases = Array.from({ length: 2 ** bits.length }, (_, matches) => {
      const matching = bits.flatMap(({ schema }, bit) => ((matches >> bit) % 2 === 1 ? [schema] : []))
      return `case ${matches}: ${codeOf(matching)}; break`
    })
    const matches = bits.map(({ test }, bit) => `(${test} ? ${2 ** bit} : 0)`)
    return `switch (${matches.join(' + ')}) {\n${cases.join('\n')}\n}`
  }
}

/** The names that every object inherits. */
const inheritedNames = Object.getOwnPropertyNames(Object.prototype)

/** The maximum of patterns whose schemas describe members: their combinations double with each of them. */
const maxPatterns = 8

/**
 * Cases beyond this number are first told apart by the lengths of their names: V8 compares with one after the other.
 */
const maxCases = 12

/** Returns code that runs the case of a member's name, or else the other code. */
function switchCode(cases: [name: string, code: string][], other: string): string {
  const casesCode = (some: typeof cases) =>
    some.map(([name, code]) => `case ${JSON.stringify(name)}: ${code}; break`).join('\n')
  if (cases.length === 0) return other
  if (cases.length <= maxCases) return `switch (name) {\n${casesCode(cases)}\ndefault: ${other}\n}`
  const lengths = [...new Set(cases.map(([name]) => name.length))].map((length) => {
    const some = cases.filter(([name]) => name.length === length)
    return `case ${length}: switch (name) {\n${casesCode(some)}\ndefault: ${other}\n}\nbreak`
  })
  return `switch (name.length) {\n${lengths.join('\n')}\ndefault: ${other}\n}`
}

/** The merged keywords of all schemas that apply to one location. */
type MergedKeywords = {
  /** These schemas and those that they refer to in place. */
  schemas: Set<Exclude<Schema, boolean>>
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
  const merged: MergedKeywords = {
    schemas: new Set(),
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
