import type { Ajv, ErrorObject } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { ContractError } from '../http/errors.ts'
import { type JsonDocument, withDoubles } from '../json/json-document.ts'
import { addExactKeywords, type ConvertedLocations, convertLocations, messageWithFormat } from './exact-keywords.ts'
import { compilePattern } from './patterns.ts'
import { addRecursiveSchemas } from './recursive-schemas.ts'
import type { Schema } from './schema-keywords.ts'

/** The maximum number of problems that a message lists. */
const maxProblems = 10
/** Characters. A location contains names that the client chose, so it is cut off at this length. */
const maxLocation = 100
/** Characters. In a longer text only the first problem is reported: finding all can take 200 times as long. */
const maxLengthForAll = 16_384

export type Validator = {
  /**
   * Returns a function that validates one part of a request; messages call it `part`. It returns the value for the
   * handler, with int64 integers as bigint and without ignored properties, or a ContractError.
   */
  request(schema: Schema, part: string): (document: JsonDocument) => { value: unknown } | { error: ContractError }
  /** Returns a function that describes why a value is invalid under its schema, or returns undefined if it is valid. */
  problem(schema: Schema, part: string): (value: unknown) => string | undefined
  /**
   * Returns a function that throws if a handler's value is invalid under its schema, so that no invalid response is
   * sent. Messages call the value `part`.
   */
  response(schema: Schema, part?: string): (value: unknown) => void
}

/** Creates a validator that knows the shared schemas. Each schema is compiled at its first use. */
export function createValidator(schemas: Record<string, Schema>): Validator {
  const locations: ConvertedLocations = []
  const firstErrorAjv = lazily(() => newAjv(schemas, locations, { allErrors: false }))
  const allErrorsAjv = lazily(() => newAjv(schemas, locations, { allErrors: true }))

  /**
   * Returns a function that returns the errors of a document. If there are none, it calls `use` with the locations to
   * convert.
   */
  const compile = (
    ajv: () => Ajv,
    schema: Schema,
    use: (document: JsonDocument, locations: ConvertedLocations) => void,
  ) => {
    const compiled = lazily(() => ajv().compile(schema as object))
    return (document: JsonDocument): ErrorObject[] | undefined => {
      const validate = compiled()
      // An earlier validation that threw may have left locations.
      locations.length = 0
      const isValid = validate(document.value, {
        instancePath: '',
        parentData: document,
        parentDataProperty: 'value',
        rootData: document as never,
        dynamicAnchors: {},
      })
      if (isValid) use(document, locations)
      const errors = isValid ? undefined : (validate.errors as ErrorObject[])
      // Both would keep the body in memory.
      locations.length = 0
      validate.errors = null
      return errors
    }
  }

  const problemFinder: Validator['problem'] = (schema, part) => {
    const firstErrorOf = compile(firstErrorAjv, schema, () => {})
    return (value) => {
      const errors = firstErrorOf(withDoubles(value))
      return errors && describe(part, errors)
    }
  }

  return {
    request(schema, part) {
      const firstErrorOf = compile(firstErrorAjv, schema, convertLocations)
      const errorsOf = compile(allErrorsAjv, schema, () => {})
      return (document) => {
        let errors = firstErrorOf(document)
        if (errors === undefined) return { value: document.value }
        if ((document.length ?? 0) <= maxLengthForAll) errors = errorsOf(document) as ErrorObject[]
        return { error: new ContractError('invalid', describe(part, errors)) }
      }
    },
    problem: problemFinder,
    response(schema, part = 'response') {
      const problemOf = problemFinder(schema, part)
      return (value) => {
        const problem = problemOf(value)
        if (problem !== undefined) throw new Error(`the response does not match its schema: ${problem}`)
      }
    },
  }
}

/** Defers `make` to the first call: compiling all schemas of a large document would delay the start. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

function describe(part: string, errors: ErrorObject[]): string {
  // The error of a failed then or else branch says enough, so the error of its `if` is left out.
  const reported = errors.filter(({ keyword }) => keyword !== 'if')
  const messages = reported.map((error) => `${shorten(part + error.instancePath)} ${messageWithFormat(error)}`)
  const listed = [...new Set(messages)]
  const more = listed.splice(maxProblems).length
  return listed.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

const shorten = (location: string) => (location.length > maxLocation ? `${location.slice(0, maxLocation)}…` : location)

/** Returns the value of a validation, or throws its error. */
export function valueOrThrow(result: { value: unknown } | { error: Error }): unknown {
  if ('error' in result) throw result.error
  return result.value
}

/** Base64 with padding (RFC 4648 section 4). */
const base64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/

/**
 * Creates an Ajv instance that knows the shared schemas of an OpenAPI 3.1 document. Each validation adds the locations
 * of int64 integers and ignored properties to `locations`. A validation stops at the first error unless `allErrors` is
 * true.
 */
export function newAjv(
  schemas: Record<string, Schema>,
  locations: ConvertedLocations,
  { allErrors }: { allErrors: boolean },
): Ajv {
  const ajv = new Ajv2020({
    allErrors,
    // Inherited properties, such as those of Object.prototype, do not count as present.
    ownProperties: true,
    // Unknown keywords and formats do not affect validity (JSON Schema 2020-12, core, section 4.3.1).
    strict: false,
    strictNumbers: true,
    verbose: true,
    logger: false,
    code: { regExp: Object.assign(compilePattern, { code: 'compilePattern' }) },
    // packages/fastify-contract/src/compile/rules/unsupported-schemas.ts has already checked the schemas.
    meta: false,
    validateSchema: false,
  })
  addFormats.default(ajv)
  // ajv-formats accepts a multi-line text as soon as one of its lines is base64.
  ajv.addFormat('byte', base64)
  // ajv-formats also accepts white space instead of the T, and the offsets +01 and +0100 (RFC 3339 section 5.6).
  for (const [name, pattern] of [
    ['date-time', /^.{10}t.*(?:z|[+-]\d\d:\d\d)$/i],
    ['time', /(?:z|[+-]\d\d:\d\d)$/i],
  ] as const) {
    const { validate } = ajv.formats[name] as { validate(text: string): boolean }
    ajv.addFormat(name, (text: string) => pattern.test(text) && validate(text))
  }
  // The expression of ajv-formats takes quadratic time.
  ajv.addFormat('url', (text: string) => /^(?:https?|ftp):\/\/\S+$/iu.test(text) && URL.canParse(text))
  addExactKeywords(ajv, locations)
  addRecursiveSchemas(ajv, locations)
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema as object, name)
  return ajv
}
