import { METHODS } from 'node:http'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { type Document, type Endpoint, endpoints, join, type Located, locate } from 'fastify-contract-cli/testing'

export type ReceivedResponse = {
  method: string
  path: string
  status: number
  headers: Record<string, unknown>
  body: string
}

/** The assertions of tap that are used here. */
export type Assertions = {
  ok(value: unknown, ...message: [] | [string]): unknown
  equal(found: unknown, wanted: unknown, ...message: [] | [string]): unknown
  same(found: unknown, wanted: unknown): unknown
  match(found: unknown, pattern: RegExp): unknown
  type(found: unknown, type: string): unknown
}

type Response = Endpoint['responses'][string]

/** The operations and responses of any document whose errors share one schema. */
export type ResponseValidator = {
  /** Returns the operation for a request; HEAD without an operation of its own gets that of GET. */
  operationAt(method: string, target: string): Endpoint | undefined
  /** Returns the methods of a path, with HEAD wherever there is GET. */
  methodsAt(target: string): string[]
  /** Fails the test unless headers and body match the response; returns the parsed body, if any. */
  assertResponse(t: Assertions, response: Response, answer: ReceivedResponse): unknown
  /** Fails the test unless the body has the media type and matches the schema at a pointer; returns the parsed body. */
  assertBody(t: Assertions, schema: string, answer: ReceivedResponse, mediaType: string): unknown
}

/** Returns the response that an operation lists for a status: by code, by range such as 4XX, or `default`. */
export const responseOf = ({ responses }: Endpoint, status: number): Response | undefined =>
  namedResponseOf(responses, status) ?? responses.default

/** Returns the response that is listed for a status or its range, but not `default`. */
export const namedResponseOf = (responses: Endpoint['responses'], status: number): Response | undefined =>
  responses[status] ?? responses[`${Math.trunc(status / 100)}XX`]

/** Compiles the schemas of a document and returns the functions that check responses against it. */
export function responseValidator(document: Document): ResponseValidator {
  const validators = [{}, { coerceTypes: true }].map((options) => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, ...options })
    addFormats.default(ajv)
    return ajv.addSchema(document as object, 'document')
  }) as [Ajv2020, Ajv2020]
  const [bodies, texts] = validators
  /** The schemas of headers by pointer: Ajv compiles each object once. */
  const headerSchemas = new Map<string, object>()
  const operations = endpoints(document)
    .flatMap((endpoint) => endpoint.routes.map((route) => ({ endpoint, ...patternOf(route) })))
    // Concrete paths match before templated ones (OpenAPI 3.1 section 4.8.8).
    .sort((one, other) => one.parameters - other.parameters)

  function operationAt(method: string, target: string): Endpoint | undefined {
    const path = target.replace(/[?#].*$/s, '')
    const ofMethod = (wanted: string) =>
      operations.find(({ endpoint, pattern }) => endpoint.method === wanted && pattern.test(path))?.endpoint
    return ofMethod(method) ?? (method === 'HEAD' ? ofMethod('GET') : undefined)
  }

  const methodsAt = (target: string): string[] => METHODS.filter((method) => operationAt(method, target) !== undefined)

  function assertResponse(t: Assertions, response: Response, answer: ReceivedResponse): unknown {
    const { status, headers, body } = answer
    for (const name of Object.keys(response.headers ?? {})) assertHeader(t, response, name, headers[name.toLowerCase()])
    const mediaTypes = Object.keys(response.content ?? {})
    const sent = String(headers['content-type']).replace('; charset=utf-8', '')
    const mediaType = mediaTypes.find((one) => one === sent) ?? mediaTypes[0]
    if (mediaType === undefined) {
      t.equal(headers['content-type'], undefined, `${status} has no media type`)
      t.equal(body, '', `${status} has no body`)
      return undefined
    }
    return assertBody(t, join(response.pointer, 'content', mediaType, 'schema'), answer, mediaType)
  }

  function assertBody(
    t: Assertions,
    schema: string,
    { method, status, headers, body }: ReceivedResponse,
    type: string,
  ): unknown {
    const isJson = /[/+]json$/.test(type)
    t.equal(headers['content-type'], isJson || type.startsWith('text/') ? `${type}; charset=utf-8` : type)
    if (method === 'HEAD' || !isJson) return undefined
    const value = JSON.parse(body)
    t.ok(bodies.validate(`document${schema}`, value), `${status} body has its schema: ${bodies.errorsText()}`)
    return value
  }

  /** Validates with type coercion, because a header's value is always text. */
  function assertHeader(t: Assertions, response: Response, name: string, value: unknown): void {
    const header: Located<{ required?: boolean }> = locate(document, join(response.pointer, 'headers', name))
    if (value === undefined) return void t.ok(header.required !== true, `the missing header ${name} is optional`)
    const key = `${name} ${header.pointer}`
    const schema = headerSchemas.get(key) ?? { properties: { [name]: { $ref: `document${header.pointer}/schema` } } }
    headerSchemas.set(key, schema)
    t.ok(texts.validate(schema, { [name]: value }), `header ${name} has its schema: ${texts.errorsText()}`)
  }

  return { operationAt, methodsAt, assertResponse, assertBody }
}

/** Returns a pattern for the paths of a template, and the template's number of parameters. */
function patternOf(template: string) {
  const parts = template.split(/\{[^}]*\}/)
  const pattern = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^/]+')
  return { pattern: new RegExp(`^${pattern}$`), parameters: parts.length - 1 }
}
