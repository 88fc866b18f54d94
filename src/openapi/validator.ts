import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { ContractError } from '../http/errors.ts'
import { withDoubles } from '../json/bigint-doubles.ts'
import type { JsonDocument } from '../json/parse-json.ts'
import { addExactKeywords, type Conversion, messageWithFormat } from './exact-keywords.ts'
import type { Schema } from './schema-keywords.ts'

/** The most problems of one request that are listed. */
const maxProblems = 10
/** A place in a body may be named by the client: no more of it is sent back. */
const maxPlace = 100

export type Validator = {
  /**
   * Returns what validates a part of a request, called `part` in messages: it returns the value as a handler gets it,
   * each int64 a bigint, or the ContractError.
   */
  request(schema: Schema, part: string): (document: JsonDocument) => { value: unknown } | { error: ContractError }
  /** Returns what throws when the value of a handler breaks the schema of its response; such an answer must not leave. */
  response(schema: Schema): (value: unknown) => void
}

/** RFC 4648 section 4. */
const base64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/

/** Creates the validator of schemas that refer to shared ones. Each is compiled when it is first needed. */
export function createValidator(schemas: Record<string, Schema>): Validator {
  const found: Conversion[] = []
  const ajv = new Ajv2020({
    allErrors: true,
    // A property is there when the object has it, not when Object.prototype has.
    ownProperties: true,
    // A keyword or a format that is not known says nothing about validity (JSON Schema 2020-12, core, section 4.3.1).
    strict: false,
    strictNumbers: true,
    verbose: true,
    logger: false,
    // scripts/generate/schema-compilation.ts has compiled them.
    meta: false,
    validateSchema: false,
  })
  addFormats.default(ajv)
  // The pattern of ajv-formats accepts a text of which any single line is base64.
  ajv.addFormat('byte', base64)
  addExactKeywords(ajv, found)
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema as object, name)

  /** Returns what finds the errors of `document.value`, undefined for none; `found` then has its integers. */
  const compile = (schema: Schema) => {
    const validate = lazily(() => ajv.compile(schema as object))
    return (document: JsonDocument): ErrorObject[] | undefined => {
      found.length = 0
      const isValid = validate()(document.value, {
        instancePath: '',
        parentData: document,
        parentDataProperty: 'value',
        rootData: document as never,
        dynamicAnchors: {},
      })
      return isValid ? undefined : (validate().errors as ErrorObject[])
    }
  }

  return {
    request(schema, part) {
      const errorsOf = compile(schema)
      return (document) => {
        const errors = errorsOf(document)
        if (errors !== undefined) return { error: new ContractError('invalid', describe(part, errors)) }
        for (const [holder, key, integer] of found) holder[key] = integer
        return { value: document.value }
      }
    },
    response(schema) {
      const errorsOf = compile(schema)
      return (value) => {
        const errors = errorsOf(withDoubles(value))
        // Kept, it would hold a reply that has left.
        found.length = 0
        if (errors !== undefined) throw new Error(`the response breaks its schema: ${describe('response', errors)}`)
      }
    },
  }
}

/** A large document would keep the start waiting for schemas that may never be used. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

function describe(part: string, errors: ErrorObject[]): string {
  // Of a condition, what its branch complains of says enough.
  const told = errors.filter(({ keyword }) => keyword !== 'if')
  const all = new Set(told.map((error) => `${shorten(part + error.instancePath)} ${messageWithFormat(error)}`))
  const [...listed] = all
  const more = listed.splice(maxProblems).length
  return listed.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

const shorten = (place: string) => (place.length > maxPlace ? `${place.slice(0, maxPlace)}…` : place)
