import ucs2length from 'ajv/dist/runtime/ucs2length.js'
import { allowsType, allTypes, type Schema } from '../contract/schema-keywords.ts'
import { multipleTest } from '../json/decimal.ts'
import { json, unquoted } from '../json/write-json.ts'
import { exactKeyword, ignoredKeyword } from './exact-keywords.ts'
import { conjunction, constantConditions, stringConditions } from './keyword-conditions.ts'
import { lazyMatcher } from './linear-pattern.ts'
import {
  describedBy,
  type MergedKeywords,
  memberKeywords,
  mergeKeywords,
  type ObjectSchema,
  plainKeywords,
  requiredOf,
  schemaIdentities,
} from './merged-keywords.ts'
import { compilePattern, hasFormat } from './string-keywords.ts'
import { type SerializerNames, typeCode } from './type-code.ts'

/**
 * Returns the JSON text of a value, after the text `before`, if it is surely valid under its schema. Otherwise returns
 * undefined, and a validator must tell.
 */
export type SerializeIfValid = (value: unknown, before?: string) => string | undefined

/** The functions that the code of serializers calls. */
export const serializerFunctions = {
  unquoted,
  ucs2length: ucs2length.default,
  hasFormat,
  linearPattern: lazyMatcher,
  multipleTest,
  whole: (value: unknown, before = '') => before + json(value),
  unproven: () => undefined,
}

/** Returns the checking serializer of one schema. */
export function compileSerializer(shared: Record<string, Schema>, schema: Schema): SerializeIfValid {
  const generator = new SerializerGenerator(shared)
  const name = generator.nameOf(schema)
  const functions = { ...serializerFunctions, compilePattern }
  return new Function(...Object.keys(functions), `${generator.code()}\nreturn ${name}`)(...Object.values(functions))
}

/** A function that the code calls, which appends the values that schemas describe together to a text. */
type Writer = { name: string; code: () => string }

/**
 * Generates the code of serializers that check a value and write it in one pass, in a third of the time that a
 * validation and a serialization take. They write the text that `createSerializer` writes. They leave to the validator
 * what they cannot prove valid: schemas with other keywords, inexact numbers, and instances of classes where only listed
 * properties are sent.
 */
export class SerializerGenerator implements SerializerNames {
  readonly #shared: Record<string, Schema>
  readonly #identityOf = schemaIdentities()
  /** The merged keywords of schemas, by their identity. */
  readonly #merged = new Map<string, MergedKeywords>()
  /** The functions by the identity of their schemas, which may contain themselves. */
  readonly #writers = new Map<string, Writer>()
  /** The names of the functions that call each one. */
  readonly #callers = new Map<string, Set<string>>()
  /** The function whose code is being written. */
  #caller = ''
  /** The names of the functions that test patterns and multiples, by their code. */
  readonly #testNames = new Map<string, string>()

  /** Schemas refer to `shared` ones by name. */
  constructor(shared: Record<string, Schema>) {
    this.#shared = shared
  }

  /** Returns the name of the serializer of a schema. */
  nameOf(schema: Schema): string {
    return this.#nameOf([schema], true)
  }

  /** Returns the code of all serializers that were named. */
  code(): string {
    const functions = []
    // Iteration over a Map includes the entries that are added meanwhile.
    for (const { name, code } of this.#writers.values()) {
      this.#caller = name
      functions.push(code())
    }
    const tests = Array.from(this.#testNames, ([code, name]) => `const ${name} = ${code}`)
    return [...tests, ...functions].join('\n')
  }

  /** Returns the names of the serializers in this code that leave some plain values to the validator. */
  unproven(): Set<string> {
    const found = new Set(['unproven'])
    for (const name of found) for (const caller of this.#callers.get(name) ?? []) found.add(caller)
    return found
  }

  writerOf(schemas: Schema[], isRemovalSafe: boolean): string {
    const name = this.#nameOf(schemas, isRemovalSafe)
    this.#callers.set(name, (this.#callers.get(name) ?? new Set()).add(this.#caller))
    return name
  }

  testOf(code: string): string {
    const name = this.#testNames.get(code) ?? `test${this.#testNames.size}`
    this.#testNames.set(code, name)
    return name
  }

  textCondition(schemas: Schema[]): string | undefined {
    const merged = this.#merge(schemas)
    const described = describedBy(merged)
    const isText = allTypes.every((type) => allowsType(described, type) === (type === 'string'))
    if (!isText || !isProvable(merged)) return undefined
    return conjunction([
      'typeof value === "string"',
      ...constantConditions(described),
      ...stringConditions(described, this),
    ])
  }

  #nameOf(schemas: Schema[], isRemovalSafe: boolean): string {
    const other = schemas.length === 1 ? this.#otherThanNull(schemas[0] as Schema) : undefined
    if (other !== undefined) {
      return this.#writerNamed(`${isRemovalSafe} null ${this.#identityOf([other])}`, () => [
        `return value === null ? text + "null" : ${this.writerOf([other], isRemovalSafe)}(value, text)`,
      ])
    }
    const merged = this.#merge(schemas)
    const described = describedBy(merged)
    if (described.length === 0) return merged.hasFalse ? 'unproven' : 'whole'
    if (!isProvable(merged)) return 'unproven'
    return this.#writerNamed(`${isRemovalSafe} ${this.#identityOf(described)}`, () =>
      typeCode({ merged, described, isRemovalSafe: isRemovalSafe && merged.isPlain, names: this }),
    )
  }

  /** Returns the keywords of schemas that describe the same value. Many members have equal schemas. */
  #merge(schemas: Schema[]): MergedKeywords {
    const identity = this.#identityOf(schemas)
    const merged = this.#merged.get(identity) ?? mergeKeywords(this.#shared, schemas)
    this.#merged.set(identity, merged)
    return merged
  }

  /** Returns the name of the function of an identity. Its code names those of members, and a schema may contain itself. */
  #writerNamed(identity: string, linesOf: () => string[]): string {
    const known = this.#writers.get(identity)
    if (known !== undefined) return known.name
    const name = `write${this.#writers.size}`
    const code = () => [`function ${name}(value, text = "") {`, ...linesOf(), '}'].join('\n')
    this.#writers.set(identity, { name, code })
    return name
  }

  /** Returns the other schema of a union with null, which may be in further ones; undefined for any other schema. */
  #otherThanNull(union: Schema): Schema | undefined {
    let other: Schema | undefined
    // A set, which ends a cycle. To merge the schemas of each union of a long chain would take quadratic time.
    const unions = new Set<Schema | undefined>([union])
    for (const schema of unions) {
      const { $ref, ...others } = Object(schema) as ObjectSchema
      if ($ref !== undefined && Object.keys(others).length === 0) unions.add(this.#shared[String($ref).slice(0, -1)])
      else {
        const inner = this.#alternativeToNull(Object(schema) as ObjectSchema)
        if (inner === undefined) return other
        other = inner
        unions.add(inner)
      }
    }
    return undefined
  }

  #alternativeToNull({ anyOf, oneOf, ...others }: ObjectSchema): Schema | undefined {
    const [first, second, ...more] = ((anyOf ?? oneOf) as Schema[] | undefined) ?? []
    const isUnion = (anyOf === undefined || oneOf === undefined) && more.length + Object.keys(others).length === 0
    const other = isNull(first) ? second : first
    if (!isUnion || other === undefined || isNull(first) === isNull(second)) return undefined
    if (anyOf !== undefined) return other
    // A null that the other schema allows, too, is invalid.
    const merged = this.#merge([other])
    return isProvable(merged) && !allowsType([...merged.schemas], 'null') ? other : undefined
  }
}

const isNull = (schema: Schema | undefined): boolean => JSON.stringify(schema) === '{"type":"null"}'

/** The keywords that a serializer checks, or that assert nothing. Schemas with others are left to the validator. */
const provableKeywords = new Set(['enum', 'const', 'minProperties', 'discriminator', ...plainKeywords])
// These plain keywords have no code here.
for (const keyword of ['patternProperties', 'unevaluatedProperties', 'maxProperties', 'prefixItems', ignoredKeyword]) {
  provableKeywords.delete(keyword)
}
for (const keyword of ['enum', 'const']) provableKeywords.delete(exactKeyword(keyword))

/** The names that every object inherits. */
const inheritedNames = Object.getOwnPropertyNames(Object.prototype)

/** Returns whether a serializer can prove values valid under schemas that all apply to them. */
function isProvable({ hasFalse, properties, schemas }: MergedKeywords): boolean {
  if (hasFalse) return false
  const described = [...schemas]
  if (!described.every(hasProvableKeywords)) return false
  const objects = described.filter((schema) => memberKeywords.some((keyword) => keyword in schema))
  // Of several schemas, additionalProperties also applies to what the others list.
  if (objects.length !== 1 && !described.every(isOpen)) return false
  const required = requiredOf(described)
  return !inheritedNames.some((name) => properties.has(name) || required.has(name))
}

const hasProvableKeywords = (schema: ObjectSchema): boolean =>
  Object.keys(schema).every((keyword) => provableKeywords.has(keyword)) &&
  isScalar(schema.const) &&
  ((schema.enum ?? []) as unknown[]).every(isScalar)

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null

const isOpen = ({ additionalProperties }: ObjectSchema): boolean => (additionalProperties ?? true) === true
