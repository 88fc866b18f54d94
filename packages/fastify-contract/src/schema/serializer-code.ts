import ucs2length from 'ajv/dist/runtime/ucs2length.js'
import { allowsType, allTypes, type Schema } from '../contract/schema-keywords.ts'
import { multipleTest } from '../json/decimal.ts'
import {
  exactKeyword,
  exactRange,
  ignoredKeyword,
  integerBounds,
  isIgnored,
  isIntegerFormat,
  linearKeyword,
} from './exact-keywords.ts'
import { lazyMatcher } from './linear-pattern.ts'
import {
  all,
  arrayChecks,
  conditionsOf,
  constantConditions,
  describedBy,
  json,
  listsAll,
  type MergedKeywords,
  memberKeywords,
  mergeKeywords,
  numberChecks,
  type ObjectSchema,
  plainKeywords,
  schemaIdentities,
  stringChecks,
  unquoted,
} from './serializer.ts'
import { compilePattern, hasFormat } from './string-keywords.ts'

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
  const generator = serializerGenerator(shared)
  const name = generator.nameOf(schema)
  const functions = { ...serializerFunctions, compilePattern }
  return new Function(...Object.keys(functions), `${generator.code()}\nreturn ${name}`)(...Object.values(functions))
}

/** Generates the code of checking serializers. */
export type SerializerGenerator = {
  /** Returns the name of the serializer of a schema. */
  nameOf(schema: Schema): string
  /** Returns the code of all serializers that were named. */
  code(): string
  /** Returns the names of the serializers in this code that leave some plain values to the validator. */
  unproven(): Set<string>
}

/** The keywords that a serializer checks, or that assert nothing. Schemas with others are left to the validator. */
const provableKeywords = new Set(['enum', 'const', ...plainKeywords])
// These plain keywords have no code here.
for (const keyword of ['patternProperties', 'unevaluatedProperties', 'maxProperties', 'prefixItems', ignoredKeyword]) {
  provableKeywords.delete(keyword)
}
for (const keyword of ['enum', 'const']) provableKeywords.delete(exactKeyword(keyword))

/** The names that every object inherits. */
const inheritedNames = Object.getOwnPropertyNames(Object.prototype)

/**
 * Returns a generator of serializers that check a value and write it in one pass, in a third of the time that a
 * validation and a serialization take. They write the text that `createSerializer` writes. They leave to the validator
 * what they cannot prove valid: schemas with other keywords, inexact numbers, and instances of classes where only listed
 * properties are sent.
 */
export function serializerGenerator(shared: Record<string, Schema>): SerializerGenerator {
  const identityOf = schemaIdentities()
  const names = new Map<string, string>()
  const named = new Map<string, () => string>()
  /** The serializers that call each one. */
  const callers = new Map<string, Set<string>>()
  let caller = ''
  /** The names of the functions that test patterns and multiples, by their code. */
  const testNames = new Map<string, string>()
  return {
    nameOf: (schema) => nameOf([schema], true),
    code() {
      // Iteration over a Map includes the entries that are added meanwhile.
      const functions = []
      for (const [name, codeOf] of named) {
        caller = name
        functions.push(codeOf())
      }
      const tests = Array.from(testNames, ([code, name]) => `const ${name} = ${code}`)
      return [...tests, ...functions].join('\n')
    },
    unproven() {
      const found = new Set(['unproven'])
      for (const name of found) for (const one of callers.get(name) ?? []) found.add(one)
      return found
    },
  }

  /** Returns the name of a serializer, and notes that the serializer that is being written calls it. */
  function writerOf(schemas: Schema[], isRemovalSafe: boolean): string {
    const name = nameOf(schemas, isRemovalSafe)
    callers.set(name, (callers.get(name) ?? new Set()).add(caller))
    return name
  }

  /**
   * Returns the name of the function that appends the values that these schemas describe together to a text.
   * `isRemovalSafe` tells that no keyword above these schemas looks into the members of their values, so unlisted
   * members can be left out.
   */
  function nameOf(schemas: Schema[], isRemovalSafe: boolean): string {
    const merged = mergeKeywords(shared, schemas)
    const described = describedBy(merged)
    if (described.length === 0) return merged.hasFalse ? 'unproven' : 'whole'
    const other = schemas.length === 1 ? otherThanNull(described[0] as ObjectSchema) : undefined
    if (other === undefined && !isProvable(merged)) return 'unproven'
    // A schema may contain itself, so the same schemas share one function.
    const identity = `${isRemovalSafe} ${identityOf(merged)}`
    const known = names.get(identity)
    if (known !== undefined) return known
    const name = `write${names.size}`
    names.set(identity, name)
    named.set(name, () => {
      const lines =
        other === undefined
          ? checkedCode(merged, described, isRemovalSafe && merged.isPlain)
          : [`return value === null ? text + "null" : ${writerOf([other], isRemovalSafe)}(value, text)`]
      return [`function ${name}(value, text = "") {`, ...lines, '}'].join('\n')
    })
    return name
  }

  /** Returns the other schema of a union with null; undefined for any other schema. */
  function otherThanNull({ anyOf, oneOf, ...others }: ObjectSchema): Schema | undefined {
    const [first, second, ...more] = ((anyOf ?? oneOf) as Schema[] | undefined) ?? []
    const isUnion = (anyOf === undefined || oneOf === undefined) && more.length + Object.keys(others).length === 0
    const isNull = (schema: Schema | undefined) => JSON.stringify(schema) === '{"type":"null"}'
    const other = isNull(first) ? second : first
    if (!isUnion || other === undefined || isNull(first) === isNull(second)) return undefined
    if (anyOf !== undefined) return other
    // A null that the other schema allows, too, is invalid.
    const merged = mergeKeywords(shared, [other])
    return isProvable(merged) && !allowsType([...merged.schemas], 'null') ? other : undefined
  }

  /** Returns the condition under which a value is valid under schemas that allow only strings; undefined for others. */
  function textCondition(schemas: Schema[]): string | undefined {
    const merged = mergeKeywords(shared, schemas)
    const described = describedBy(merged)
    const isText = allTypes.every((type) => allowsType(described, type) === (type === 'string'))
    if (!isText || !isProvable(merged)) return undefined
    return all(['typeof value === "string"', ...constantConditions(described), ...stringConditions(described)])
  }

  /** Returns the name of the function that this code returns; it is made once. */
  function testOf(code: string): string {
    const name = testNames.get(code) ?? `test${testNames.size}`
    testNames.set(code, name)
    return name
  }

  function numberConditions(described: ObjectSchema[]): string[] {
    const ofSteps = described.flatMap(({ multipleOf: step }) =>
      step === undefined ? [] : [`${testOf(`multipleTest(${step})`)}(value)`],
    )
    return [...conditionsOf(described, numberChecks), ...ofSteps]
  }

  function stringConditions(described: ObjectSchema[]): string[] {
    const ofPatterns = described.flatMap(({ pattern, [linearKeyword]: linear }) => [
      ...(pattern === undefined ? [] : [`${testOf(`compilePattern(${JSON.stringify(pattern)})`)}.test(value)`]),
      ...(linear === undefined ? [] : [`${testOf(`linearPattern(${JSON.stringify(linear)})`)}(value)`]),
    ])
    return [...conditionsOf(described, stringChecks), ...ofPatterns]
  }

  /** Returns the lines of the function that appends the values of merged keywords. */
  function checkedCode(merged: MergedKeywords, described: ObjectSchema[], isRemovalSafe: boolean): string[] {
    const required = requiredOf(described)
    const isClosed = described.some(({ additionalProperties }) => additionalProperties === false)
    const lines = {
      null: () => ['if (value === null) return text + "null"'],
      boolean: () => ['if (typeof value === "boolean") return text + value'],
      string: () => [
        `if (typeof value === "string") return ${all(stringConditions(described))} ? text + "\\"" + unquoted(value) + "\\"" : undefined`,
      ],
      number: numberLines,
      array: () => [
        'if (Array.isArray(value)) {',
        `if (!(${all(conditionsOf(described, arrayChecks))})) return undefined`,
        'text += "["',
        'for (let index = 0; index < value.length; index++) {',
        `text = ${writerOf(merged.items, isRemovalSafe)}(value[index], index === 0 ? text : text + ",")`,
        'if (text === undefined) return undefined',
        '}',
        'return text + "]"',
        '}',
      ],
      object: () => {
        const isListed = isRemovalSafe && listsAll(merged)
        const isObject = isListed
          ? 'value !== null && Object.getPrototypeOf(value) === Object.prototype'
          : 'value !== null && !Array.isArray(value)'
        return [`if (typeof value === "object" && ${isObject}) {`, ...(isListed ? listedLines() : loopLines()), '}']
      },
    }
    const types = Object.keys(lines) as (keyof typeof lines)[]
    return [
      ...constantConditions(described).map((condition) => `if (!${condition}) return undefined`),
      ...types.flatMap((type) => (allowsType(described, type === 'number' ? 'integer' : type) ? lines[type]() : [])),
      'return undefined',
    ]

    function numberLines(): string[] {
      const ranges = described.flatMap((schema) => {
        if (isIntegerFormat(schema.format)) return [integerBounds[schema.format]]
        return allowsType([schema], 'number') ? [] : [exactRange]
      })
      if (ranges.length === 0) {
        const isValid = all(['Number.isFinite(value)', ...numberConditions(described)])
        return [`if (typeof value === "number") return ${isValid} ? text + value : undefined`]
      }
      const within = (literal: (bound: bigint) => string) =>
        ranges.map(([least, greatest]) => `value >= ${literal(least)} && value <= ${literal(greatest)}`)
      const isSafe = ['Number.isSafeInteger(value)', ...within((bound) => String(Number(bound)))]
      const canBeLarge = !ranges.includes(exactRange) && !described.some((schema) => 'multipleOf' in schema)
      const isLarge = [...within((bound) => `${bound}n`), ...conditionsOf(described, numberChecks, 'Number(value)')]
      return [
        'if (typeof value === "bigint" && value >= -9007199254740991n && value <= 9007199254740991n) value = Number(value)',
        `if (typeof value === "number") return ${all([...isSafe, ...numberConditions(described)])} ? text + value : undefined`,
        ...(canBeLarge ? [`if (typeof value === "bigint") return ${all(isLarge)} ? text + value : undefined`] : []),
      ]
    }

    /** Appends the properties in the order of the schema. */
    function listedLines(): string[] {
      const lines = ['const object = value', ...(isClosed ? ['let count = 0'] : [])]
      /** What precedes the next member; undefined if only the generated code knows. */
      let separator: string | undefined = '{'
      /** The quote at the end of a string, which is appended together with what follows. */
      let open = ''
      for (const [property, own] of merged.properties) {
        const isRequired = required.has(property)
        const writes: string[] = []
        if (!own.every(isOnlyIgnored)) {
          const condition = textCondition(own)
          if (!isRequired && separator === '{') {
            separator = undefined
            lines.push('let separator = "{"')
          }
          if (!isRequired && condition === undefined && open !== '') {
            lines.push('text += "\\""')
            open = ''
          }
          const isOpen = condition !== undefined && (isRequired || open !== '')
          const key = `${JSON.stringify(property)}:`
          const before: Before = separator === undefined ? ['separator + ', key] : ['', open + separator + key]
          writes.push(...memberLines(own, before, condition, isOpen))
          if (isRequired) separator = ','
          else if (separator === undefined) writes.push('separator = ","')
          open = isOpen ? '"' : ''
        }
        lines.push(
          '{',
          `const value = object[${JSON.stringify(property)}]`,
          isRequired ? 'if (value === undefined) return undefined' : 'if (value !== undefined) {',
          ...writes,
          ...(isClosed ? ['count++'] : []),
          isRequired ? '}' : '}}',
        )
      }
      if (isClosed) lines.push('for (const name in object) count--', 'if (count !== 0) return undefined')
      return [
        ...lines,
        separator === undefined
          ? endOfObject
          : `return text + ${JSON.stringify(`${open}${separator === '{' ? '{' : ''}}`)}`,
      ]
    }

    /** Appends all members in their own order. */
    function loopLines(): string[] {
      const linesOf = (schemas: Schema[], [code, literal]: Before) => [
        ...memberLines(schemas, [`separator + ${code}`, literal], textCondition(schemas)),
        'separator = ","',
      ]
      const cases = Array.from(merged.properties, ([property, own]) => [
        `case ${JSON.stringify(property)}: {`,
        ...(own.every(isOnlyIgnored) ? [] : linesOf(own, ['', `${JSON.stringify(property)}:`])),
        'break',
        '}',
      ])
      return [
        ...[...required].map((name) => `if (!Object.hasOwn(value, ${JSON.stringify(name)})) return undefined`),
        'const object = value',
        'let separator = "{"',
        'for (const name of Object.keys(object)) {',
        'const value = object[name]',
        'if (value === undefined) return undefined',
        'switch (name) {',
        ...cases.flat(),
        'default: {',
        ...(isClosed ? ['return undefined'] : linesOf(merged.others ?? [], ['"\\"" + unquoted(name) + ', '":'])),
        '}',
        '}',
        '}',
        endOfObject,
      ]
    }

    /** Returns the lines that append a member with what is before it. If `isOpen`, they leave out the quote at its end. */
    function memberLines(schemas: Schema[], [code, literal]: Before, condition?: string, isOpen = false): string[] {
      if (condition === undefined) {
        return [
          `text = ${writerOf(schemas, isRemovalSafe)}(value, text + ${code}${JSON.stringify(literal)})`,
          'if (text === undefined) return undefined',
        ]
      }
      return [
        `if (!(${condition})) return undefined`,
        `text = text + ${code}${JSON.stringify(`${literal}"`)} + unquoted(value)${isOpen ? '' : ' + "\\""'}`,
      ]
    }
  }
}

/** What precedes a member: code that computes the beginning of the text, and the rest. */
type Before = [code: string, literal: string]

const endOfObject = 'return text + (separator === "{" ? "{}" : "}")'

/** Returns whether a serializer can prove values valid under schemas that all apply to them. */
function isProvable({ hasFalse, properties, schemas }: MergedKeywords): boolean {
  const described = [...schemas]
  const isScalar = (value: unknown) => typeof value !== 'object' || value === null
  const objects = described.filter((schema) => memberKeywords.some((keyword) => keyword in schema))
  return (
    !hasFalse &&
    described.every(
      (schema) =>
        Object.keys(schema).every((keyword) => provableKeywords.has(keyword)) &&
        isScalar(schema.const) &&
        ((schema.enum ?? []) as unknown[]).every(isScalar) &&
        // Of several schemas, additionalProperties also applies to what the others list.
        (objects.length === 1 || (schema.additionalProperties ?? true) === true),
    ) &&
    !inheritedNames.some((name) => properties.has(name) || requiredOf(described).has(name))
  )
}

/** Returns whether a property is ignored, whatever its value is. */
const isOnlyIgnored = (schema: Schema): boolean => isIgnored(schema) && Object.keys(schema).length === 1

const requiredOf = (schemas: ObjectSchema[]): Set<string> =>
  new Set(schemas.flatMap(({ required }) => (required ?? []) as string[]))
