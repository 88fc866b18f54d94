import {
  type Contract,
  type HandlerResponse,
  kindOf,
  type Operation,
  rangeOf,
  responseKey,
  type Schema,
  type ServerSentEvent,
} from 'fastify-contract/contract'
import { parseJson, stringifyJson, withDoubles } from 'fastify-contract/json'
import { type CompiledSchemas, createValidator, loadSchemaCode, mergeKeywords } from 'fastify-contract/schema'
import { byOperationId, type Document, type Endpoint } from '../document/openapi-document.ts'
import { isInt64 } from '../document/schemas.ts'
import { isNode, mapEntries } from '../document/walk-document.ts'
import { isDigest, validatorExample } from './example-validators.ts'
import { type ExampleResponse, exampleResponses, exampleStream, isExampleStream } from './examples.ts'

/** Returns the response as the service sends it, by operationId; undefined if it would not send it. */
export type Sendable = (operationId: string, outcome: HandlerResponse) => HandlerResponse | undefined

/** Returns a function that validates example responses, and gives each int64 its digits. */
export function sendableResponses({ routes, schemaCode }: Pick<Required<Contract>, 'routes' | 'schemaCode'>): Sendable {
  const exactValue = exactValues(routes.schemas, loadSchemaCode(schemaCode, routes))
  const byId = byOperationId(routes.operations)
  return (operationId, outcome) => sendableResponse(exactValue, byId.get(operationId) as Operation, outcome)
}

/** Yields the example responses of an operation, as the service sends them, that are no errors. The first one is the best. */
export function* successes(document: Document, sendable: Sendable, endpoint: Endpoint): Generator<ExampleResponse> {
  for (const { outcome, origin } of exampleResponses(document, endpoint)) {
    const sent = outcome.status < 400 ? sendable(endpoint.operationId, outcome) : undefined
    if (sent !== undefined) yield { outcome: sent, origin }
  }
}

/** A value in the form in which a handler returns it, with each int64 as a bigint. */
type Exact = { value: unknown }

/**
 * Returns an example response in the form in which a handler returns it: each int64 is a bigint, where the document's
 * example has a number. Leaves out headers that break their schemas. Returns undefined if the service would not send
 * the response.
 */
function sendableResponse(
  exactValue: ExactValue,
  operation: Operation,
  example: HandlerResponse,
): HandlerResponse | undefined {
  const { response } = operation.schema
  const { status, headers = {}, contentType, body } = example
  const key = responseKey(response, status) ?? ''
  const { content = {}, headers: schemas = {} } = response[key] ?? {}
  const declared = operation.responseHeaders?.[key] ?? []
  const given: [string, unknown][] = []
  for (const { name, isRequired } of declared) {
    const exact = exactValue(schemas[name] ?? true, validatorExample(operation, status, name, headers[name]))
    if (exact !== undefined) given.push([name, exact.value])
    else if (isRequired && !isDigest(operation, name)) return undefined
  }
  const [first = ''] = Object.keys(content)
  const type = contentType ?? first
  const { schema } = content[type] ?? content[rangeOf(Object.keys(content), type) ?? first] ?? {}
  const exact = schema === undefined ? { value: body } : exactBody(exactValue, schema, contentType ?? first, body)
  if (exact === undefined) return undefined
  return {
    status,
    ...(given.length > 0 && { headers: Object.fromEntries(given) }),
    ...(contentType !== undefined && { contentType }),
    body: exact.value,
  }
}

function exactBody(exactValue: ExactValue, schema: Schema, mediaType: string, body: unknown): Exact | undefined {
  if (body instanceof Uint8Array) return { value: body }
  if (!isExampleStream(body)) return exactValue(schema, body)
  const items: unknown[] = []
  const isLines = kindOf(mediaType) === 'lines'
  for (const item of body.items) {
    const exact = exactValue(schema, isLines ? item : (item as ServerSentEvent).data)
    if (exact === undefined) return undefined
    items.push(isLines ? exact.value : { data: exact.value })
  }
  return { value: exampleStream(items) }
}

type ExactValue = (schema: Schema, value: unknown) => Exact | undefined

/** Returns whether each int64 of a value that is sent is the one of an example, and not a double that may be rounded. */
function hasDigits(sent: unknown, example: unknown): boolean {
  if (typeof sent === 'bigint') return typeof example === 'bigint' || Number.isSafeInteger(example)
  if (typeof sent !== 'object' || sent === null) return true
  return Object.entries(sent).every(([name, value]) => hasDigits(value, Object(example)[name]))
}

/** Returns what is sent of an example with the bigints of the example. */
function withDigits(sent: unknown, example: unknown): unknown {
  if (typeof example === 'bigint') return example
  if (Array.isArray(sent)) return sent.map((item, index) => withDigits(item, Object(example)[index]))
  return isNode(sent) ? mapEntries(sent, (member, name) => withDigits(member, Object(example)[name])) : sent
}

/**
 * Returns a function that returns a value with each int64 as a bigint, or undefined if the value is not JSON, breaks its
 * schema, or has an int64 whose digits are unknown. What a serializer proves valid is returned as the service sends it.
 */
function exactValues(schemas: Record<string, Schema>, compiled: CompiledSchemas): ExactValue {
  const validator = createValidator(schemas, compiled)
  const withInt64 = (described: Schema[], value: unknown): unknown => {
    const merged = mergeKeywords(schemas, described)
    if (Array.isArray(value)) return value.map((item) => withInt64(merged.items, item))
    if (isNode(value))
      return mapEntries(value, (member, name) => withInt64(merged.properties.get(name) ?? merged.others ?? [], member))
    return typeof value === 'number' && [...merged.schemas].some(isInt64) ? BigInt(value) : value
  }
  return exactValue

  function exactValue(schema: Schema, value: unknown): Exact | undefined {
    const serialize = compiled.serializers.get(schema)
    try {
      // A serializer takes a bigint for an int64 only; the service would not use it for another one.
      const text = serialize?.(value) ?? serialize?.(withDoubles(value).value)
      if (text !== undefined) return { value: withInt64([schema], withDigits(parseJson(text).value, value)) }
      // Where no validator was generated, the serializer proves what is valid.
      if (serialize !== undefined && compiled.validators.get(schema) === undefined) return undefined
      const document = parseJson(String(stringifyJson(value)))
      const isValid = validator.converter(schema)(document)
      return isValid && hasDigits(document.value, value) ? document : undefined
    } catch {
      return undefined
    }
  }
}
