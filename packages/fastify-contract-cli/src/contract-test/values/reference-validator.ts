import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Schema } from 'fastify-contract/contract'
import type { Document } from '../../document/openapi-document.ts'
import { type Json, withDoubles } from './json-notations.ts'

const int64 = (value: number) => Number.isInteger(value) && Math.abs(value) <= 2 ** 63

/** Validates values against schemas of a document with an Ajv instance that shares nothing with the service's. */
export class ReferenceValidator {
  readonly #ajv = new Ajv2020({ strict: false, ownProperties: true, logger: false, validateSchema: false })
  readonly #compiled = new Map<Schema, ValidateFunction>()

  constructor(document: Document) {
    addFormats.default(this.#ajv)
    // The int64 format of ajv-formats accepts any integer.
    this.#ajv.addFormat('int64', { type: 'number', validate: int64 })
    const { paths = {}, components = {} } = document
    this.#ajv.addSchema({ paths, components }, 'document')
  }

  /** Returns whether a schema accepts a value. The schema's references point into the document. */
  accepts(schema: Schema, value: Json): boolean {
    const validate = this.#compiled.get(schema) ?? this.#ajv.compile(rebased(schema) as object)
    this.#compiled.set(schema, validate)
    return validate(withDoubles(value))
  }
}

const rebased = (schema: Schema): unknown =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    key === '$ref' && typeof value === 'string' ? `document${value}` : value,
  )
