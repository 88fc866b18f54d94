import * as fc from 'fast-check'
import type { Schema } from 'fastify-contract/contract'
import type { Document } from '../../document/openapi-document.ts'
import { filterOrThrow } from '../values/arbitrary.ts'
import { Generator } from '../values/generator.ts'
import type { Json } from '../values/json-notations.ts'
import { ReferenceValidator } from '../values/reference-validator.ts'
import type { SchemaViolation } from '../values/schema-violation.ts'
import type { ValueHook, ValueOptions } from '../values/value-options.ts'
import { isCertainForm } from './form-values.ts'
import type { ParameterPart } from './operation-parts.ts'
import { isReadExactly } from './readings.ts'
import { isHeaderText, parameterText } from './write-request.ts'

/** Letters, digits and marks that no style, header or URL treats in another way. */
const plain = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_')
const visible = fc.oneof({ weight: 3, arbitrary: plain }, fc.constantFrom(..."!#$&'()*/:<>?@^`{}~+"))
/** Letters of one UTF-16 unit and one code point: servers count the length of others differently. */
const letters = fc.constantFrom(...'äéßñøŁžΩЖя中文字日本')
const printable = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCodePoint(code))
const names = fc.string({ unit: plain, minLength: 1, maxLength: 8 })

/** The values of all schemas of a document for a kind of server. */
export type ValueSources = {
  /** Values of bodies. */
  bodies: Generator
  /** Values of parameters and fields: of one text, of parts of a text, and of headers. */
  texts: Generator
  lists: Generator
  headers: Generator
  /** Returns whether a schema accepts a value; false if the schema cannot be compiled. */
  accepts: (schema: Schema, value: Json) => boolean
  /** Returns whether a schema can be compiled, so that `accepts` can tell. */
  isCompilable: (schema: Schema) => boolean
  /** Returns the ways to break a schema; none if the search fails. */
  breaches: (generator: Generator, schema: Schema) => SchemaViolation[]
  /** Returns whether a server that converts types may accept a value. */
  isConvertible: (schema: Schema, value: Json) => boolean
  hook: ValueHook
}

/** Returns the sources of values for servers of this engine, or for others. */
export function valueSources(document: Document, isOwn: boolean, hook: ValueHook): ValueSources {
  const strict = new ReferenceValidator(document)
  const lenient = new ReferenceValidator(document, 'lenient')
  const common = { hasAnyFormat: isOwn, hook }
  const generator = (options: Partial<ValueOptions>) => new Generator(document, { ...common, ...options }, strict)
  const accepts = (schema: Schema, value: Json) => isAccepted(strict, schema, value)
  return {
    bodies: isOwn
      ? generator({})
      : generator({ characters: fc.oneof(printable, plain, letters), isOpen: false, names }),
    texts: generator({ characters: isOwn ? fc.oneof(plain, printable, letters) : plain, isOpen: false, names }),
    lists: generator({ characters: plain, isOpen: false, names }),
    headers: generator({ characters: isOwn ? visible : plain, isOpen: false, names }),
    accepts,
    isCompilable: (schema) => compiles(strict, schema),
    breaches: breachesOf,
    isConvertible: (schema, value) => isAccepted(lenient, schema, value),
    hook,
  }
}

function isAccepted(judge: ReferenceValidator, schema: Schema, value: Json): boolean {
  try {
    return judge.accepts(schema, value)
  } catch {
    return false
  }
}

function compiles(judge: ReferenceValidator, schema: Schema): boolean {
  try {
    judge.accepts(schema, null)
    return true
  } catch {
    return false
  }
}

function breachesOf(generator: Generator, schema: Schema): SchemaViolation[] {
  try {
    return generator.breaches(schema)
  } catch {
    return []
  }
}

/** The number of values that must be found at once, so that the search surely does not fail later. */
const found = 10

/** Returns values of which some are found at once, or the reason why there are none. */
export function findable<T>(make: () => fc.Arbitrary<T>): { values: fc.Arbitrary<T> } | { reason: string } {
  try {
    const values = make()
    fc.sample(values, { numRuns: found, seed: 1 })
    return { values }
  } catch (error) {
    return { reason: (error as Error).message.slice(0, 300) }
  }
}

/** Returns the values of a parameter that every server reads as they are. Throws if none are found. */
export function parameterValues(sources: ValueSources, part: ParameterPart): fc.Arbitrary<Json> {
  const { name, schema } = part
  const given = sources.hook(name, schema)
  if (given !== undefined) return fc.constant(name).map((each) => sources.hook(each, schema) as Json)
  const values = generatorOf(sources, part).valid(schema)
  return filterOrThrow(values, (value) => isCertain(sources, part, value), `parameter ${name}`)
}

/** Returns whether a value of a parameter can be sent, and every server reads it as it is. */
export function isCertain(sources: ValueSources, part: ParameterPart, value: Json): boolean {
  const accepts = (one: Json) => sources.accepts(part.schema, one)
  if (!accepts(value)) return false
  const { whole } = part.reading
  if (whole === 'json') return true
  if (whole !== undefined) return isCertainForm(whole, value, accepts)
  return isReadExactly(part.reading, value, accepts) && isSendable(part, value)
}

/** The maximum length of a value in a path: that of the router of Fastify. */
const maxPathText = 90

function isSendable(part: ParameterPart, value: Json): boolean {
  const pairs = parameterText(part, value)
  if (pairs === undefined || pairs.length === 0) return false
  if (part.in === 'path') return pairs.every(([, text]) => isPathText(text))
  return pairs.every(
    ([, text]) =>
      (text !== '' || part.parameter.allowEmptyValue === true) &&
      text.length < 2_500 &&
      (part.in !== 'header' || isHeaderText(text)),
  )
}

/** Returns whether every router takes a text: some reject encoded slashes and control characters. */
const isPathText = (text: string): boolean =>
  text.length <= maxPathText && !/%(?:2f|5c|[01].|7f|25)/i.test(text) && !/^(?:\.|%2e){1,2}$/i.test(text)

export const generatorOf = (sources: ValueSources, { in: location, reading: { kind } }: ParameterPart): Generator => {
  if (kind === 'array' || kind === 'object' || kind === 'nested') return sources.lists
  return location === 'header' || location === 'cookie' ? sources.headers : sources.texts
}
