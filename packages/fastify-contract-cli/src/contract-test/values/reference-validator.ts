import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Schema } from 'fastify-contract/contract'
import type { Document } from '../../document/openapi-document.ts'
import { expressionOf } from '../../document/patterns.ts'
import { type Json, withDoubles } from './json-notations.ts'

const int64 = (value: number) => Number.isInteger(value) && Math.abs(value) <= 2 ** 63

/** A strict validator checks types and formats as written. A lenient one converts types and ignores formats. */
type Mode = 'strict' | 'lenient'

const options = { strict: false, ownProperties: true, logger: false, validateSchema: false } as const
const lenience = { coerceTypes: 'array', removeAdditional: true, validateFormats: false } as const

/**
 * Validates values against schemas of a document with an Ajv instance that shares nothing with the service's. The
 * lenient mode accepts what a server may accept that is not strict, such as a number in place of a string.
 */
export class ReferenceValidator {
  readonly #ajv: Ajv2020
  readonly #compiled = new Map<Schema, ValidateFunction>()
  readonly #isLenient: boolean

  constructor(document: Document, mode: Mode = 'strict') {
    this.#isLenient = mode === 'lenient'
    this.#ajv = new Ajv2020({ ...options, ...(this.#isLenient && lenience), code: { regExp } })
    addFormats.default(this.#ajv)
    // The int64 format of ajv-formats accepts any integer.
    this.#ajv.addFormat('int64', { type: 'number', validate: int64 })
    const { paths = {}, components = {} } = document
    this.#ajv.addSchema(readable({ paths, components }) as object, 'document')
  }

  /**
   * Returns whether a schema accepts a value. The schema's references point into the document. Throws an error for a
   * schema that cannot be compiled.
   */
  accepts(schema: Schema, value: Json): boolean {
    const validate = this.#compiled.get(schema) ?? this.#ajv.compile(rebased(schema) as object)
    this.#compiled.set(schema, validate)
    const doubles = withDoubles(value)
    // A lenient validator changes the value that it converts.
    return validate(this.#isLenient ? structuredClone(doubles) : doubles)
  }
}

/** Compiles a pattern as the document means it: some are no expressions with the flag `u`. */
const regExp = Object.assign((pattern: string) => expressionOf(pattern) ?? new RegExp(pattern), {
  code: 'new RegExp',
})

/** Keywords that name a schema. References of a normalized document need none, and Ajv finds them in examples, too. */
const nameKeywords = ['$id', '$anchor', '$dynamicAnchor']
/** Keywords whose values Ajv does not search for schemas. */
const valueKeywords = ['const', 'enum']

/** Returns a part of a document with numbers in place of its bigints, and without names of schemas. */
function readable(node: unknown, isValue = false): unknown {
  if (typeof node === 'bigint') return Number(node)
  if (Array.isArray(node)) return node.map((item) => readable(item, isValue))
  if (typeof node !== 'object' || node === null) return node
  const isName = (name: string, value: unknown) => !isValue && typeof value === 'string' && nameKeywords.includes(name)
  return Object.fromEntries(
    Object.entries(node)
      .filter(([name, value]) => !isName(name, value))
      .map(([name, value]) => [name, readable(value, isValue || valueKeywords.includes(name))]),
  )
}

const rebased = (schema: Schema): unknown =>
  JSON.parse(JSON.stringify(readable(schema)), (key, value) =>
    key === '$ref' && typeof value === 'string' ? `document${value}` : value,
  )
