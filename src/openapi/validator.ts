import type { Ajv, ErrorObject } from 'ajv'
import { ContractError } from '../http/errors.ts'
import { withDoubles } from '../json/bigint-doubles.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { newAjv } from './ajv-instance.ts'
import { type ConvertedPlaces, convertPlaces, messageWithFormat } from './exact-keywords.ts'
import type { Schema } from './schema-keywords.ts'

/** The most problems of one request that are listed. */
const maxProblems = 10
/** A place in a body may be named by the client: no more of it is sent back. */
const maxPlace = 100
/** Of a longer text only the first problem is looked for: all of them may cost 200 times as much as the text. */
const maxLengthForAll = 16_384

export type Validator = {
  /**
   * Returns what validates a part of a request, called `part` in messages: it returns the value as a handler gets it,
   * each int64 a bigint and without ignored properties, or the ContractError.
   */
  request(schema: Schema, part: string): (document: JsonDocument) => { value: unknown } | { error: ContractError }
  /**
   * Returns what throws when the value of a handler breaks the schema of its place in the response, called `part` in
   * messages; such an answer must not leave.
   */
  response(schema: Schema, part?: string): (value: unknown) => void
}

/** Creates the validator of schemas that refer to shared ones. Each is compiled when it is first needed. */
export function createValidator(schemas: Record<string, Schema>): Validator {
  const places: ConvertedPlaces = []
  const first = lazily(() => newAjv(schemas, places, { allErrors: false }))
  const all = lazily(() => newAjv(schemas, places, { allErrors: true }))

  /** Returns what finds the errors of a document, and calls `use` with the places to convert when there are none. */
  const compile = (ajv: () => Ajv, schema: Schema, use: (document: JsonDocument, places: ConvertedPlaces) => void) => {
    const compiled = lazily(() => ajv().compile(schema as object))
    return (document: JsonDocument): ErrorObject[] | undefined => {
      const validate = compiled()
      // What a validation that threw has left.
      places.length = 0
      const isValid = validate(document.value, {
        instancePath: '',
        parentData: document,
        parentDataProperty: 'value',
        rootData: document as never,
        dynamicAnchors: {},
      })
      if (isValid) use(document, places)
      const errors = isValid ? undefined : (validate.errors as ErrorObject[])
      // Kept, both would hold a body that has left.
      places.length = 0
      validate.errors = null
      return errors
    }
  }

  return {
    request(schema, part) {
      const firstErrorOf = compile(first, schema, convertPlaces)
      const errorsOf = compile(all, schema, () => {})
      return (document) => {
        let errors = firstErrorOf(document)
        if (errors === undefined) return { value: document.value }
        if ((document.length ?? 0) <= maxLengthForAll) errors = errorsOf(document) as ErrorObject[]
        return { error: new ContractError('invalid', describe(part, errors)) }
      }
    },
    response(schema, part = 'response') {
      const firstErrorOf = compile(first, schema, () => {})
      return (value) => {
        const errors = firstErrorOf(withDoubles(value))
        if (errors !== undefined) throw new Error(`the response breaks its schema: ${describe(part, errors)}`)
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

/** Returns the value of a validation, or throws its error. */
export function valueOrThrow(result: { value: unknown } | { error: Error }): unknown {
  if ('error' in result) throw result.error
  return result.value
}
