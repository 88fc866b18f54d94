import * as fc from 'fast-check'
import type { Schema } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import type { Document } from '../../document/openapi-document.ts'
import { alternativesOf } from './alternatives.ts'
import { anyJson, filterOrThrow, findableOf, isFoundInSample, ofType } from './arbitrary.ts'
import { arrays, arrayViolations } from './arrays.ts'
import { integers, integerViolations } from './integers.ts'
import type { Json } from './json-notations.ts'
import type { Keywords, SchemaBranch } from './keywords.ts'
import { numbers, numberViolations } from './numbers.ts'
import { objects, objectViolations } from './objects.ts'
import { ReferenceValidator } from './reference-validator.ts'
import type { SchemaViolation } from './schema-violation.ts'
import { strings, stringViolations } from './strings.ts'
import { typesOf, unlisted, wrongTypes } from './types.ts'
import { anyValues, type ValueOptions } from './value-options.ts'

/** The maximum number of levels that a generated value has beyond its smallest possible depth. */
const moreLevels = 3
/** The number of depths that the search tries. A schema that needs a deeper value is treated as unsatisfiable. */
const mostLevels = 64
/** The number of violations of one schema after which no further schemas below it are broken. */
const maxViolations = 2_000

/**
 * The number of properties beyond which an object with an invalid member has no other optional ones. Making a hundred of
 * them would take seconds, and a form with all of them mostly has one that only some servers read.
 */
const maxProperties = 12

/** Makes values from the schemas of a document: valid values, and values that break a schema in one way. */
export class Generator {
  readonly #judge: ReferenceValidator
  readonly #alternatives: (schema: Schema) => SchemaBranch[]
  readonly #known = new Map<Schema, (fc.Arbitrary<Json> | undefined)[]>()

  readonly #options: ValueOptions
  readonly #rare = new Map<Schema, boolean>()
  #left = maxViolations

  /** @param options How values are made; by default, they have everything that a schema allows. */
  constructor(document: Document, options: Partial<ValueOptions> = {}, judge = new ReferenceValidator(document)) {
    this.#judge = judge
    this.#options = { ...anyValues, ...options }
    this.#alternatives = alternativesOf(document)
  }

  /** Returns values that are valid under a schema. Throws if none can be made. */
  valid(schema: Schema): fc.Arbitrary<Json> {
    const values = this.#shallow(schema, moreLevels)
    if (values === undefined) throw new Error(`no value can be made for ${stringifyJson(schema)}`)
    return values
  }

  /** Returns the value that the hook gives for a property; undefined if it gives none. */
  givenValue(name: string, schema: Schema): Json | undefined {
    return this.#options.hook(name, schema) as Json | undefined
  }

  /** Returns the values of each alternative of a schema, with few levels. */
  branches(schema: Schema): fc.Arbitrary<Json>[] {
    const isValid = (value: Json) => this.#judge.accepts(schema, value)
    return this.#alternatives(schema).flatMap(({ keywords, judged }) => {
      for (let levels = 0; levels < mostLevels; levels++) {
        const values = this.#ofKeywords(keywords, schema, levels)
        if (values !== undefined) return judged ? filterOrThrow(values, isValid, String(keywords.type)) : values
      }
      return []
    })
  }

  /**
   * Returns the ways to break a schema, at its root and below: all unless they are thousands. A recursive schema is also
   * broken one level down.
   */
  breaches(schema: Schema, above: unknown[] = []): SchemaViolation[] {
    if (above.length === 0) this.#left = maxViolations
    const identity = (schema as { $ref?: string }).$ref ?? schema
    if (this.#left <= 0 || above.filter((other) => other === identity).length > 1) return []
    if (schema === false) return [{ where: '', what: 'not allowed', values: anyJson }]
    const alternatives = this.#alternatives(schema)
    const all = alternatives.flatMap((one) => this.#breachesOf(one, schema, [...above, identity]))
    this.#left -= all.length
    if (alternatives.length === 1 && !alternatives[0]?.judged) return all
    // A value that breaks one alternative may satisfy another one.
    const isInvalid = (value: Json) => !this.#judge.accepts(schema, value)
    return all
      .filter(({ values }) => isFoundInSample(values, isInvalid))
      .map((breach) => ({
        ...breach,
        values: filterOrThrow(breach.values, isInvalid, `${breach.where} ${breach.what}`),
      }))
  }

  /** Returns values of the smallest possible depth plus `more` levels, or undefined if there are none. */
  #shallow(schema: Schema, more = 0): fc.Arbitrary<Json> | undefined {
    for (let levels = 0; levels < mostLevels; levels++)
      if (this.#within(schema, levels) !== undefined) return this.#within(schema, levels + more)
    return undefined
  }

  /** Returns values with at most `levels` levels of arrays and objects, or undefined if there are none. */
  #within(schema: Schema, levels: number): fc.Arbitrary<Json> | undefined {
    if (levels < 0) return undefined
    const known = this.#known.get(schema) ?? []
    this.#known.set(schema, known)
    if (levels in known) return known[levels]
    const alternatives = this.#alternatives(schema)
    const parts = alternatives.flatMap(({ keywords }) => this.#ofKeywords(keywords, schema, levels) ?? [])
    const values = parts.length === 0 ? undefined : fc.oneof(...parts)
    const judged = alternatives.some((alternative) => alternative.judged)
    const isValid = (value: Json) => this.#judge.accepts(schema, value)
    known[levels] = values && judged ? filterOrThrow(values, isValid, String(stringifyJson(schema))) : values
    return known[levels]
  }

  #ofKeywords(keywords: Keywords, schema: Schema, levels: number): fc.Arbitrary<Json> | undefined {
    const values = keywords.enum?.filter((value) => this.#judge.accepts(schema, value))
    if (values !== undefined) return values.length === 0 ? undefined : fc.constantFrom(...values)
    const below = (child: Schema) => (this.#isRare(child) ? undefined : this.#within(child, levels - 1))
    const makers: Record<string, () => fc.Arbitrary<Json> | undefined> = {
      integer: () => integers(keywords),
      number: () => numbers(keywords),
      string: () => strings(keywords, this.#options),
      array: () => arrays(keywords, below(keywords.items ?? true)),
      object: () => objects(keywords, below, this.#options),
    }
    const types = typesOf(keywords)
    const parts = types.flatMap(
      (type) => (Object.hasOwn(makers, type) ? makers[type]?.() : ofType[type as 'null']) ?? [],
    )
    if (types.length === 0) return levels > 0 ? anyJson : fc.oneof(ofType.null, ofType.boolean, ofType.string)
    return parts.length === 0 ? undefined : fc.oneof(...parts)
  }

  /** Returns whether the values of a schema with keywords that only a validator knows are too rare to find. */
  #isRare(schema: Schema): boolean {
    const known = this.#rare.get(schema)
    if (known !== undefined) return known
    // A schema may contain itself.
    this.#rare.set(schema, false)
    if (!this.#alternatives(schema).some(({ judged }) => judged)) return false
    const values = this.#shallow(schema)
    const isRare = values !== undefined && findableOf(values, () => true, '') === undefined
    this.#rare.set(schema, isRare)
    return isRare
  }

  #breachesOf({ keywords }: SchemaBranch, schema: Schema, above: unknown[]): SchemaViolation[] {
    const { type, enum: listed, items = true } = keywords
    const types = typesOf(keywords)
    const breaches = type === undefined ? [] : wrongTypes(type, this.#shallow(schema) ?? anyJson)
    if (listed !== undefined) return [...breaches, ...unlisted(listed, type)]
    if (types.includes('number')) breaches.push(...numberViolations(keywords))
    else if (types.includes('integer')) breaches.push(...integerViolations(keywords))
    if (types.includes('string')) breaches.push(...stringViolations(keywords, this.#options))
    if (types.includes('array'))
      breaches.push(...arrayViolations(keywords, this.#shallow(items), this.breaches(items, above)))
    const below = (child: Schema) => (this.#isRare(child) ? undefined : this.#shallow(child))
    const isNarrow = Object.keys(keywords.properties ?? {}).length <= maxProperties
    const some = types.includes('object') ? objects(keywords, below, this.#options, isNarrow) : undefined
    if (some) breaches.push(...objectViolations(keywords, some, (child) => this.breaches(child, above), this.#options))
    return breaches
  }
}
