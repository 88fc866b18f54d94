import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { ContractError } from '../http/errors.ts'
import type { JsonDocument } from '../json/parse-json.ts'
import { alternativeKeyword } from './alternatives.ts'
import {
  type Document,
  join,
  type Located,
  type Parameter,
  type RequestBody,
  type Response,
  type Schema,
} from './document.ts'
import { type Conversion, exactIntegerKeyword, type Source, withExactIntegers } from './exact-keywords.ts'

/** What Fastify takes from a validator of ours: the value that takes the place of the part, or the error. */
export type Validate<T> = (part: T) => { value: T } | { error: ContractError }

/** The most problems of one request that are listed. */
const maxProblems = 10
/** A place in a body may be named by the client: no more of it is sent back. */
const maxPlace = 100

/** Compiles the schemas of one document, each where it stands in it, so that every $ref means what it says there. */
export class Validation {
  readonly #document: unknown
  readonly #compilers = new Map<Source, ReturnType<typeof compiler>>()

  constructor(document: Document) {
    // Ajv takes what holds the schemas for a schema itself: these two members of it are all that a $ref leads to.
    const { paths, components } = document
    this.#document = withExactIntegers({ paths, components })
  }

  /** The validator of a request body; it turns every int64 into a bigint. */
  body(holder: Located<RequestBody>, mediaType: string): Validate<JsonDocument> {
    const { validate, found } = this.#compile('json', schemaOf(holder, mediaType))
    return (document) => check(validate, found, 'body', document) ?? { value: document }
  }

  /**
   * Gives what takes the texts of parameters of one kind and turns them into the types of their schemas, or throws a
   * ContractError.
   */
  parameters(described: Located<Parameter>[], kind: Parameter['in']) {
    const { validate, found } = this.#compile('text', {
      type: 'object',
      required: described.filter(({ required }) => required).map(({ name }) => name),
      properties: Object.fromEntries(
        described.map(({ name, pointer }) => [name, { $ref: `contract${pointer}/schema` }]),
      ),
    })
    return (value: Record<string, unknown>): Record<string, unknown> => {
      const refused = check(validate, found, kind, { value })
      if (refused !== undefined) throw refused.error
      return value
    }
  }

  /** Throws when a handler's value does not have the schema of its response; such an answer must not leave. */
  response(holder: Located<Response>, mediaType: string): (value: unknown) => void {
    const { validate } = this.#compile('handler', schemaOf(holder, mediaType))
    return (value) => {
      if (validate(value)) return
      throw new Error(`the response breaks its schema: ${problems('response', validate.errors)}`)
    }
  }

  #compile(source: Source, schema: Schema) {
    const { ajv, found } = this.#compilers.get(source) ?? compiler(source, this.#document)
    this.#compilers.set(source, { ajv, found })
    return { validate: ajv.compile(schema as object), found }
  }
}

/** A media type without a schema holds anything. */
function schemaOf({ content, pointer }: Located<RequestBody | Response>, mediaType: string): Schema {
  if (content?.[mediaType]?.schema === undefined) return {}
  return { $ref: `contract${join(pointer, 'content', mediaType, 'schema')}` }
}

/** RFC 4648 section 4. */
const base64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/

function compiler(source: Source, document: unknown) {
  const found: Conversion[] = []
  const ajv = new Ajv2020({
    allErrors: true,
    coerceTypes: source === 'text' ? 'array' : false,
    // A property is there when the object has it, not when Object.prototype has.
    ownProperties: true,
    // A keyword or a format that is not known says nothing about validity (JSON Schema 2020-12, core, section 4.3.1).
    strict: false,
    strictNumbers: true,
    logger: false,
    // The document was checked when it was generated.
    meta: false,
    validateSchema: false,
    keywords: [exactIntegerKeyword(source, found), alternativeKeyword(found)],
  })
  addFormats.default(ajv)
  // Its own looks at each line by itself, and one of them is enough.
  ajv.addFormat('byte', base64)
  ajv.addSchema(document as object, 'contract')
  return { ajv, found }
}

/** Validates `holder.value`; turns the integers found in it into what a handler takes, or gives the error. */
function check(
  validate: ValidateFunction,
  found: Conversion[],
  part: string,
  holder: JsonDocument,
): { error: ContractError } | undefined {
  found.length = 0
  const context = {
    instancePath: '',
    parentData: holder,
    parentDataProperty: 'value',
    rootData: holder,
    dynamicAnchors: {},
  }
  if (!validate(holder.value, context)) {
    return { error: new ContractError('invalid', problems(part, validate.errors)) }
  }
  for (const [target, key, integer] of found) target[key] = integer
  return undefined
}

/** Of an alternative that failed, and of a condition, the keyword around it says enough. */
const silent = ['alternative', 'if']

function problems(part: string, errors: ErrorObject[] | null | undefined): string {
  const told = errors?.filter(({ keyword }) => !silent.includes(keyword))
  const all = new Set(told?.map(({ instancePath, message }) => `${shorten(part + instancePath)} ${message}`))
  const [...listed] = all
  const more = listed.splice(maxProblems).length
  return listed.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

const shorten = (place: string) => (place.length > maxPlace ? `${place.slice(0, maxPlace)}…` : place)
