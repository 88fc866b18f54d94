import { _, type Ajv, type ErrorObject, type KeywordCxt, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { SchemaEnv } from 'ajv/dist/compile/index.js'
import addFormats from 'ajv-formats'
import { ContractError } from '../contract/errors.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import { escapeKey, type JsonDocument, roundedInteger, withDoubles } from '../json/json-document.ts'
import { addEarlyReturns } from './early-returns.ts'
import {
  addExactKeywords,
  type ConvertedLocations,
  convertLocations,
  exactFunctions,
  messageWithFormat,
  roundingMessages,
} from './exact-keywords.ts'
import { createSerializer, type Serialize } from './interpreted-serializer.ts'
import { mergeKeywords } from './merged-keywords.ts'
import { addEmptyNames, addEvaluatedKeywords, addRecursiveSchemas } from './recursive-schemas.ts'
import { compileSerializer, type SerializeIfValid } from './serializer-code.ts'
import { type Problem, type StandardSchema, standardSchema } from './standard-schema.ts'
import { compilePattern, formats } from './string-keywords.ts'

/** The maximum number of problems that a message lists. */
const maxProblems = 10
/** Characters. A location contains names that the client chose, so it is cut off at this length. */
const maxLocation = 100
/** Characters. In a longer text only the first problem is reported: finding all can take 200 times as long. */
const maxLengthForAll = 16_384

/** Validates one part of a request, which it converts in place. The error has status 400. */
export type ValidatePart = (document: JsonDocument) => { value: unknown } | { error: ContractError }

export type Validator = {
  /**
   * Returns a function that validates one part of a request, which messages call `part`. For a valid value the function
   * returns the value for the handler, with int64 integers as bigint and without ignored properties. No other integer
   * that a schema describes is rounded: if a double cannot hold it, the value is refused.
   */
  request(schema: Schema, part: string): ValidatePart
  /** Returns a function that tells whether a document is valid, and converts a valid value as `request` does. */
  converter(schema: Schema): (document: JsonDocument) => boolean
  /** Returns a function that describes why a value is invalid under its schema, or returns undefined if it is valid. */
  problem(schema: Schema, part: string): (value: unknown) => string | undefined
  /**
   * Returns a function that throws if a handler's value is invalid under its schema, so that no invalid response is
   * sent. Messages call the value `part`.
   */
  response(schema: Schema, part?: string): (value: unknown) => void
  /** Returns a function that serializes the body of a response. It throws if the body is invalid. */
  serializer(schema: Schema): Serialize
  /**
   * Returns a schema as a Standard Schema. Its values are those that `request` accepts and returns; a given value stays
   * as it is. Throws an error for a $ref to no shared schema.
   */
  standard<Output, Input = Output>(schema: Schema): StandardSchema<Input, Output>
}

/**
 * Returns the JSON pointer to an integer that a handler would get rounded; undefined if there is none. Members that no
 * schema describes do not count, since they are ignored.
 */
function roundedIn(document: JsonDocument, root: Schema, shared: Record<string, Schema>): string | undefined {
  // Many members have the same schemas, and merging these takes time. Lists of equal schemas are one list, too.
  const known = new Map<Schema[], ReturnType<typeof mergeKeywords>>()
  const lists = new Map<string, Schema[]>()
  const idOf = idsOf<Schema>()
  return roundedInteger(document, [root], schemasAt)

  function schemasAt(described: Schema[], holder: object, name: string): Schema[] | undefined {
    const merged = known.get(described) ?? mergeKeywords(shared, described)
    known.set(described, merged)
    if (Array.isArray(holder)) return merged.items
    const { properties, patterns, others } = merged
    const matching = patterns.flatMap(([pattern, schema]) => (pattern.test(name) ? [schema] : []))
    if (matching.length === 0) return properties.get(name) ?? others
    const all = [...(properties.get(name) ?? []), ...matching]
    const key = all.map(idOf).join()
    const list = lists.get(key) ?? all
    lists.set(key, list)
    return list
  }
}

/** Returns a function that numbers values: equal values have the same number. */
function idsOf<Value>(): (value: Value) => number {
  const ids = new Map<Value, number>()
  return (value) => {
    const id = ids.get(value) ?? ids.size
    ids.set(value, id)
    return id
  }
}

/** A function that Ajv compiled. It returns whether a value is valid, and keeps the errors if it describes them. */
export type CompiledFunction = {
  (value: unknown, context: NonNullable<Parameters<ValidateFunction>[1]>): boolean
  errors?: ErrorObject[] | null | undefined
}

/**
 * Compiled schemas: the functions of each schema, and the list to which a validation adds the locations of int64
 * integers and ignored properties.
 */
export type CompiledSchemas = {
  validators: Map<Schema, CompiledFunction>
  serializers: Map<Schema, SerializeIfValid>
  found: ConvertedLocations
}

/**
 * Creates a validator that knows the shared schemas. A schema that is not in `compiled` is compiled at its first use,
 * and so are the functions that describe the errors of invalid values.
 */
export function createValidator(
  schemas: Record<string, Schema>,
  { validators, serializers, found }: CompiledSchemas = { validators: new Map(), serializers: new Map(), found: [] },
): Validator {
  const ajv = lazily(() => newAjv(schemas, found, 'none'))
  const firstErrorAjv = lazily(() => newAjv(schemas, found, 'first'))
  const allErrorsAjv = lazily(() => newAjv(schemas, found, 'all'))

  function run(validate: CompiledFunction, document: JsonDocument): boolean {
    // An earlier validation that threw may have left locations.
    found.length = 0
    return validate(document.value, {
      instancePath: '',
      parentData: document,
      parentDataProperty: 'value',
      rootData: document as never,
      dynamicAnchors: {},
    })
  }

  /** Returns a function that returns whether a document is valid. It first passes the locations of a valid one to `use`. */
  function check(schema: Schema, use: typeof convertLocations): (document: JsonDocument) => boolean {
    let validate = validators.get(schema)
    return isValid

    function isValid(document: JsonDocument): boolean {
      validate ??= compileSchema(ajv(), schema) as CompiledFunction
      const result = run(validate, document)
      if (result) use(document, found)
      // The locations would keep the body in memory.
      found.length = 0
      return result
    }
  }

  /** Returns what is wrong with an invalid document. */
  function errorsOf(schema: Schema, document: JsonDocument, describesAll: boolean): ErrorObject[] {
    const validate = (describesAll ? allErrorsAjv : firstErrorAjv)().compile(schema as object) as CompiledFunction
    run(validate, document)
    const errors = validate.errors as ErrorObject[]
    // The locations and the errors would keep the body in memory.
    found.length = 0
    validate.errors = null
    // The error of a failed then or else branch says enough, so the error of its `if` is left out.
    return errors.filter(({ keyword }) => keyword !== 'if')
  }

  /** Describes what is wrong with an invalid document. */
  const describeErrors = (part: string, schema: Schema, document: JsonDocument, describesAll: boolean): string =>
    describe(part, errorsOf(schema, document, describesAll))

  const validator: Validator = {
    converter(schema) {
      const isValid = check(schema, convertLocations)
      return (document) => isValid(document) && roundedIn(document, schema, schemas) === undefined
    },
    request(schema, part) {
      const isValid = check(schema, convertLocations)
      return validatePart

      function validatePart(document: JsonDocument): ReturnType<ValidatePart> {
        if (isValid(document)) {
          const rounded = document.exactNumbers && roundedIn(document, schema, schemas)
          if (rounded === undefined) return { value: document.value }
          return { error: new ContractError('invalid', `${shorten(part + rounded)} ${roundingMessages.number}`) }
        }
        const describesAll = document.length <= maxLengthForAll
        return { error: new ContractError('invalid', describeErrors(part, schema, document, describesAll)) }
      }
    },
    problem(schema, part) {
      const isValid = check(schema, () => {})
      return problemOf

      function problemOf(value: unknown): string | undefined {
        const document = withDoubles(value)
        return isValid(document) ? undefined : describeErrors(part, schema, document, false)
      }
    },
    response(schema, part = 'response') {
      const problemOf = validator.problem(schema, part)
      return assertValid

      function assertValid(value: unknown): void {
        const problem = problemOf(value)
        if (problem !== undefined) throw new Error(`the response does not match its schema: ${problem}`)
      }
    },
    serializer(schema) {
      const assertValid = validator.response(schema)
      let serializeIfValid = serializers.get(schema)
      let serialize: Serialize | undefined
      return serializeValid

      function serializeValid(value: unknown): string {
        serializeIfValid ??= compileSerializer(schemas, schema)
        const text = serializeIfValid(value)
        if (text !== undefined) return text
        assertValid(value)
        serialize ??= createSerializer(schemas, schema)
        return serialize(value)
      }
    },
    standard(schema) {
      const { $ref } = Object(schema)
      if ($ref !== undefined && !Object.hasOwn(schemas, $ref.replace(/#$/, '')))
        throw new Error(`there is no schema ${JSON.stringify($ref)}; write a name of the shared schemas, then #`)
      const isValid = check(schema, convertLocations)
      return standardSchema(schemas, schema, problemsOf)

      function problemsOf(document: JsonDocument): Problem[] {
        if (!isValid(document))
          return errorsOf(schema, document, document.length <= maxLengthForAll)
            .slice(0, maxProblems)
            .map(problemOf)
        const pointer = document.exactNumbers && roundedIn(document, schema, schemas)
        return pointer === undefined ? [] : [{ pointer, message: roundingMessages.number }]
      }
    },
  }
  return validator
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
  const messages = errors.map((error) => `${shorten(part + error.instancePath)} ${messageWithFormat(error)}`)
  const listed = [...new Set(messages)]
  const more = listed.splice(maxProblems).length
  return listed.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

/** Returns an error with the location of its value, or of the member that is missing. */
function problemOf(error: ErrorObject): Problem {
  const { instancePath, params } = error
  const missing: string | undefined = params.missingProperty
  const pointer = missing === undefined ? instancePath : `${instancePath}/${escapeKey(missing)}`
  return { pointer, message: messageWithFormat(error) }
}

const shorten = (location: string) => (location.length > maxLocation ? `${location.slice(0, maxLocation)}…` : location)

/** Returns the value of a validation, or throws its error. */
export function valueOrThrow(result: { value: unknown } | { error: Error }): unknown {
  if ('error' in result) throw result.error
  return result.value
}

/** The maximum number of keywords of a shared schema whose code is repeated where it is used, instead of called. */
const maxInlined = 10

/** Resolves references, which are the name of a shared schema and `#`, without the time that Ajv takes to parse a URI. */
const nameResolver = {
  parse: (reference: string) => ({ path: reference.split('#')[0] as string }),
  resolve: (_base: string, reference: string) => reference,
  serialize: ({ path = '' }: { path?: string | undefined }) => path,
}

/**
 * Creates an Ajv instance that knows the shared schemas of an OpenAPI 3.1 document. Each validation adds the locations
 * of int64 integers and ignored properties to `found`. `errors` are the errors that compiled schemas describe: without
 * errors, their code is half as long. A validation stops at the first error unless it describes all.
 */
export function newAjv(
  schemas: Record<string, Schema>,
  found: ConvertedLocations,
  errors: 'none' | 'first' | 'all',
): Ajv {
  const ajv = new Ajv2020({
    allErrors: errors === 'all',
    verbose: errors !== 'none',
    code: {
      formats: _`formats`,
      regExp: Object.assign(compilePattern, { code: 'compilePattern' }),
    },
    inlineRefs: maxInlined,
    // Inherited properties, such as those of Object.prototype, do not count as present.
    ownProperties: true,
    // Unknown keywords and formats do not affect validity (JSON Schema 2020-12, core, section 4.3.1).
    strict: false,
    strictNumbers: true,
    logger: false,
    uriResolver: nameResolver,
    // packages/fastify-contract-cli/src/rules/document-structure.ts has already checked the values of all keywords.
    meta: false,
    validateSchema: false,
  })
  addFormats.default(ajv)
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format)
  addEmptyNames(ajv)
  addEvaluatedKeywords(ajv)
  addExactKeywords(ajv, exactFunctions(found))
  addRecursiveSchemas(ajv, found)
  ajv.addKeyword(withoutErrors)
  if (errors === 'none') addEarlyReturns(ajv)
  const known = new Map<string, SchemaEnv>()
  for (const [name, schema] of Object.entries(schemas)) {
    if (errors === 'none') ajv.schemas[name] = sharedByEqual(known, schema)
    else ajv.addSchema(schema as object, name)
  }
  return ajv
}

/** Returns what an Ajv instance that describes no errors keeps of a schema, which equal schemas share. */
function sharedByEqual(known: Map<string, SchemaEnv>, schema: Schema): SchemaEnv {
  const text = JSON.stringify(schema)
  const environment = known.get(text) ?? environmentOf(schema)
  known.set(text, environment)
  return environment
}

/** Unlike Ajv, does not look for `$id` and `$anchor` in the schema: it has none (see normalize.ts of the commands). */
const environmentOf = (schema: Schema): SchemaEnv => new SchemaEnv({ schema: { [withoutErrors.keyword]: schema } })

/** A keyword that applies a schema without describing its errors. */
export const withoutErrors = {
  keyword: 'x-without-errors',
  code(context: KeywordCxt) {
    const valid = context.gen.name('valid')
    const compiled = context.subschema({ keyword: withoutErrors.keyword, createErrors: false }, valid)
    context.ok(valid)
    context.mergeEvaluated(compiled)
  },
}

/** Compiles a schema with an Ajv instance that describes no errors. */
export function compileSchema(ajv: Ajv, schema: Schema): ValidateFunction {
  const { $ref, ...others } = Object(schema)
  if ($ref !== undefined && Object.keys(others).length === 0) return ajv.getSchema($ref) as ValidateFunction
  // A shared schema has no space in its name, but may be called "true".
  const name = `schema ${JSON.stringify(schema)}`
  ajv.schemas[name] ??= environmentOf(schema)
  return ajv.getSchema(name) as ValidateFunction
}
