import { _, type Ajv, type Code, type CodeKeywordDefinition, type ErrorObject, type KeywordCxt, Name, str } from 'ajv'
import { alwaysValidSchema } from 'ajv/dist/compile/util.js'
import type { Schema } from '../contract/schema-keywords.ts'
import { multipleTest } from '../json/decimal.ts'
import { duplicateItems, exactInteger, exactNumberOf, exactValueOf, type JsonDocument } from '../json/json-document.ts'
import { lazyMatcher } from './linear-pattern.ts'

/**
 * The locations of values to convert before a handler gets them: int64 integers and ignored properties. A location is
 * an object or array (the holder) and a key in it. Holders and keys alternate in one flat list, since a tuple for each
 * location would cost more than the integers.
 */
export type ConvertedLocations = (object | string | number)[]

/** The least and the greatest integer of each format. */
export const integerBounds = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
} as const

type Format = keyof typeof integerBounds

/**
 * The format that the compiler writes for a number that may be an int64, too: its integers become bigints, so that a
 * handler gets the same value whichever schema it satisfies.
 */
export const mixedFormat = 'x-int64-or-fraction'

/** Every integer below this has at most 20 digits, as many as the client reads as a bigint. */
const mixedEnd = 1e20

/** The integers that every JSON implementation exchanges exactly (RFC 7493 section 2.2). */
export const exactRange = [BigInt(Number.MIN_SAFE_INTEGER), BigInt(Number.MAX_SAFE_INTEGER)] as const

/** The messages for numbers that JSON Schema accepts and this engine rejects, since a double rounds them. */
export const roundingMessages = {
  integer: `must be an integer from ${exactRange[0]} to ${exactRange[1]}`,
  number: `must be a number that a double holds without rounding, such as an integer up to ${exactRange[1]}`,
}

/** Locations that several parts of a list share. They are converted once. */
export class SharedLocations {
  isConverted = false
  readonly list: ConvertedLocations

  constructor(list: ConvertedLocations) {
    this.list = list
  }
}

/** Keywords whose subschemas may fail although the value is valid (JSON Schema 2020-12, core, section 10.2). */
const alternatives = ['anyOf', 'oneOf', 'not', 'if', 'contains']

/**
 * Makes an Ajv instance exact for integers that a double cannot hold. The formats int32, int64 and uint64,
 * `multipleOf`, `uniqueItems` and the exact keywords check the digits that `parseJson` kept. An integer of any other
 * format must be in the range where doubles are exact. int64, uint64 and ignored properties also add their locations to
 * `exact.found`; a failed subschema removes its locations again. Ajv's other keywords compare doubles. That is correct
 * for a limit up to 2^53 - 1, since rounding never moves a number across it. `generate` replaces larger limits by the
 * exact keywords, and rejects schemas that need more, such as int64 in `contains`.
 */
export function addExactKeywords(ajv: Ajv, exact: ExactFunctions): void {
  ajv.addKeyword({ keyword: ignoredKeyword, code: (context) => check(context, exact.ignored, _`exact.ignored`) })
  for (const [keyword, { relation }] of Object.entries(comparisons)) {
    ajv.addKeyword({
      keyword: exactKeyword(keyword),
      type: 'number',
      error: { message: ({ schema }) => str`must be ${relation} ${schema.replaceAll(',', ' or ')}` },
      code: (context) => {
        const digits: string = context.schema
        check(context, exact.compare(keyword, digits), _`exact.compare(${keyword}, ${digits})`)
      },
    })
  }
  ajv.addKeyword({
    keyword: linearKeyword,
    type: 'string',
    error: { message: ({ schema }) => str`must match pattern "${schema}"` },
    code: (context) => check(context, exact.matches(context.schema), _`exact.matches(${context.schema})`),
  })
  const format = definitionOf(ajv, 'format')
  replace(ajv, 'format', {
    error: { message: (context) => messageOf(context as KeywordCxt, format) },
    code(context, type) {
      if (context.schema === mixedFormat && type === 'number') check(context, exact.mixed, _`exact.mixed`)
      else if (!isIntegerFormat(context.schema)) format.code(context, type)
      else if (type === 'number') {
        check(context, exact.integers[context.schema], _`exact.integers[${context.schema}]`)
      }
    },
  })
  replace(ajv, 'type', {
    type: ['number'],
    error: { message: roundingMessages.integer },
    code(context) {
      const types = [context.schema].flat()
      const isInteger = types.includes('integer') && !types.includes('number')
      if (isInteger && !isIntegerFormat(context.parentSchema.format)) check(context, exact.integer, _`exact.integer`)
    },
  })
  replace(ajv, 'uniqueItems', {
    code(context) {
      const { gen, data, schema } = context
      if (schema !== true) return
      const call = gen.scopeValue('func', { ref: exact.duplicateItems, code: _`exact.duplicateItems` })
      const duplicates = gen.const('duplicates', _`${call}(${rootData}, ${data})`)
      context.setParams({ j: _`${duplicates}[0]`, i: _`${duplicates}[1]` })
      context.fail(_`${duplicates} !== undefined`)
    },
  })
  replace(ajv, 'multipleOf', {
    code: (context) => check(context, exact.multipleOf(context.schema), _`exact.multipleOf(${context.schema})`),
  })
  for (const keyword of alternatives) {
    const { code } = definitionOf(ajv, keyword)
    replace(ajv, keyword, {
      code(context, type) {
        discardOnFailure(context, exact.found)
        code(keyword === 'anyOf' ? withoutEmpty(context) : context, type)
      },
      // For an empty array, Ajv skips the keywords after prefixItems.
      ...(keyword === 'contains' && { before: 'prefixItems' }),
    })
  }
}

/**
 * Converts the integers at these locations to bigint and deletes the ignored properties. A location may occur more than
 * once.
 */
export function convertLocations(document: JsonDocument, locations: ConvertedLocations): void {
  for (let i = 0; i < locations.length; i += 2) {
    const holder = locations[i] as Record<string | number, unknown>
    const key = locations[i + 1] as string | number | IgnoredName | SharedLocations
    if (key instanceof IgnoredName) {
      delete holder[key.name]
      continue
    }
    if (key instanceof SharedLocations) {
      if (!key.isConverted) convertLocations(document, key.list)
      key.isConverted = true
      continue
    }
    const value = holder[key]
    if (typeof value === 'number') holder[key] = BigInt(integerAt(document, holder, key, value) as number | bigint)
  }
}

/** Returns the message of an error, with the integer format if the schema has one. Requires Ajv's verbose errors. */
export function messageWithFormat({ keyword, message = '', params, parentSchema }: ErrorObject): string {
  // An integer outside the exact range has no params.
  if (keyword !== 'type' || params.type === undefined) return message
  const { format, type } = parentSchema as { format?: unknown; type: unknown }
  if (!Array.isArray(type)) return isIntegerFormat(format) ? `must be ${articled(format)} integer` : message
  const names = type.map((one) => (one === 'integer' && isIntegerFormat(format) ? `${articled(format)} integer` : one))
  return `must be ${names.join(' or ')}`
}

const articled = (format: Format): string => `${format === 'uint64' ? 'a' : 'an'} ${format}`

/** Returns whether a format is one of integers. */
export const isIntegerFormat = (format: unknown): format is Format =>
  typeof format === 'string' && Object.hasOwn(integerBounds, format)

const definitionOf = (ajv: Ajv, keyword: string) => ajv.getKeyword(keyword) as CodeKeywordDefinition

function replace(ajv: Ajv, keyword: string, change: Partial<CodeKeywordDefinition>): void {
  const definition = { ...definitionOf(ajv, keyword), ...change }
  ajv.removeKeyword(keyword).addKeyword(definition)
}

function messageOf(context: KeywordCxt, { error }: CodeKeywordDefinition) {
  if (isIntegerFormat(context.schema)) return str`must be ${articled(context.schema)} integer`
  const message = error?.message as (context: KeywordCxt) => ReturnType<typeof str>
  return message(context)
}

type Check<Value = number> = (value: Value, document: JsonDocument, holder: object, key: string | number) => boolean

/** Ajv's name, in compiled code, for the root of the validated value. */
const rootData = new Name('rootData')

function check<Value>(context: KeywordCxt, isValid: Check<Value>, code: Code): void {
  const { gen, data, it } = context
  const call = gen.scopeValue('func', { ref: isValid, code })
  context.pass(_`${call}(${data}, ${rootData}, ${it.parentData}, ${it.parentDataProperty})`)
}

/** Wraps the compilation of a keyword's subschemas: a subschema that fails removes the locations that it found. */
function discardOnFailure(context: KeywordCxt, found: ConvertedLocations): void {
  const { gen } = context
  const list = gen.scopeValue('obj', { ref: found, code: _`exact.found` })
  const subschema = context.subschema.bind(context)
  context.subschema = function compileSubschema(application, valid) {
    const before = gen.const('before', _`${list}.length`)
    const compiled = subschema(application, valid)
    gen.if(_`!${valid}`, () => gen.assign(_`${list}.length`, before))
    return compiled
  }
}

/**
 * Makes Ajv write the code of a union that any value satisfies. Without `unevaluatedProperties` in the document, Ajv
 * leaves such a union out, but its other schemas find int64 integers and ignored properties.
 */
function withoutEmpty(context: KeywordCxt): KeywordCxt {
  const { schema, it } = context
  // Ajv reads the schemas themselves from elsewhere.
  return Object.assign(context, { schema: schema.map((one: Schema) => (alwaysValidSchema(it, one) ? false : one)) })
}

/** Only schemas of properties have this keyword, so the key is always a string. */
function ignoredCheck(found: ConvertedLocations): Check {
  return function noteIgnored(_value, _document, holder, key) {
    found.push(holder, new IgnoredName(key as string))
    return true
  }
}

function integerCheck([first, last]: readonly [bigint, bigint], found?: ConvertedLocations): Check {
  // Doubles hold these bounds exactly. V8 takes several times as long to compare a number with a bigint.
  const [least, end] = [Number(first), Number(last + 1n)]
  return function checkInteger(value, document, holder, key) {
    const integer = integerAt(document, holder, key, value)
    if (integer === undefined || integer < least || integer >= end) return false
    found?.push(holder, key)
    return true
  }
}

const isInExactRange = integerCheck(exactRange)

function mixedCheck(found: ConvertedLocations): Check {
  return function checkMixed(value, document, holder, key) {
    const integer = integerAt(document, holder, key, value)
    if (integer !== undefined && integer < mixedEnd && integer > -mixedEnd) found.push(holder, key)
    return true
  }
}

type Comparison = { relation: string; accepts(value: number | bigint, ...integers: [bigint, ...bigint[]]): boolean }

const equality: Comparison = {
  relation: 'equal to',
  // Ajv compares a number that is no integer.
  accepts: (value, ...integers) => !Number.isInteger(Number(value)) || integers.includes(BigInt(value)),
}

/** How keywords compare a number with integers. JavaScript compares a number and a bigint exactly. */
const comparisons: Record<string, Comparison> = {
  minimum: { relation: '>=', accepts: (value, limit) => value >= limit },
  maximum: { relation: '<=', accepts: (value, limit) => value <= limit },
  exclusiveMinimum: { relation: '>', accepts: (value, limit) => value > limit },
  exclusiveMaximum: { relation: '<', accepts: (value, limit) => value < limit },
  multipleOf: {
    relation: 'multiple of',
    accepts: (value, divisor) => Number.isInteger(Number(value)) && BigInt(value) % divisor === 0n,
  },
  const: equality,
  enum: equality,
}

/** The keywords that compare a number. */
export const comparedKeywords = Object.keys(comparisons)

/**
 * Returns the keyword that the compiler writes for one of `comparedKeywords` if a double cannot hold one of its
 * integers. Its value is a text: the integers, separated by commas.
 */
export const exactKeyword = (keyword: string): string => `x-exact-${keyword}`

function compareCheck(keyword: string, digits: string): Check {
  const { accepts } = comparisons[keyword] as Comparison
  const integers = digits.split(',').map(BigInt) as [bigint, ...bigint[]]
  return (value, ...place) => accepts(exactValueOf(...place, value), ...integers)
}

/** Leaves a value that is no integer to Ajv's own check of the type. */
const exactCheck: Check = (value, ...place) => !Number.isInteger(value) || isInExactRange(value, ...place)

/** Returns the exact integer value, as a number if a double holds it; undefined if the value is not an integer. */
function integerAt(document: JsonDocument, holder: object, key: string | number, value: number) {
  const exact = exactNumberOf(document, holder, key)
  if (exact !== undefined) return exactInteger(exact)
  return Number.isInteger(value) ? value : undefined
}

function multipleCheck(divisor: number): Check {
  const isMultiple = multipleTest(divisor)
  return (value, document, holder, key) => isMultiple(exactValueOf(document, holder, key, value))
}

export type ExactFunctions = ReturnType<typeof exactFunctions>

/**
 * Returns the functions that compiled schemas call. A generated module calls them by the name `exact`. `found` gets the
 * locations of the values to convert.
 */
export const exactFunctions = (found: ConvertedLocations) => ({
  found,
  ignored: ignoredCheck(found),
  integers: {
    int32: integerCheck(integerBounds.int32),
    int64: integerCheck(integerBounds.int64, found),
    uint64: integerCheck(integerBounds.uint64, found),
  },
  integer: exactCheck,
  mixed: mixedCheck(found),
  compare: compareCheck,
  multipleOf: multipleCheck,
  duplicateItems,
  matches: lazyMatcher,
})

/** The keyword that the compiler writes for a `pattern` whose match by V8 could take more than linear time. */
export const linearKeyword = 'x-linear-pattern'

/**
 * The keyword that the compiler writes for a property that is readOnly in a request or writeOnly in a response. Any
 * value of such a property is valid, and none reaches a handler or a client.
 */
export const ignoredKeyword = 'x-ignored'

/** Returns whether a schema marks an ignored property. */
export const isIgnored = (schema: Schema): boolean => typeof schema === 'object' && schema[ignoredKeyword] === true

/** The key of an ignored property in a list of locations. The class tells it apart from the key of an int64 integer. */
class IgnoredName {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}
