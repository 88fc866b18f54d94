import type { ServerSentEvent } from '../http/server-sent-events.ts'
import { parseJson } from '../json/parse-json.ts'
import { kindOf } from '../serve/media-types.ts'
import type { Operation } from '../serve/routes.ts'
import type { Schema } from '../serve/schema-keywords.ts'
import type { Outcome } from '../serve/send-response.ts'
import type { Validator } from '../serve/validator.ts'
import { isShownStream, shownStream } from './examples.ts'

/** A value in the form in which a handler returns it, with each int64 as a bigint. */
type Exact = { value: unknown }

/**
 * Returns an example response in the form in which a handler returns it: each int64 is a bigint, where the document's
 * example has a number. Leaves out headers that break their schemas. Returns undefined if the service would not send
 * the response.
 */
export function sendableResponse(validator: Validator, operation: Operation, shown: Outcome): Outcome | undefined {
  const { response } = operation.schema
  const { status, headers = {}, contentType, body } = shown
  const key = [`${status}`, `${Math.trunc(status / 100)}XX`].find((each) => Object.hasOwn(response, each)) ?? 'default'
  const { content = {}, headers: schemas = {} } = response[key] ?? {}
  const declared = operation.replyHeaders?.[key] ?? []
  const given = declared.flatMap(({ name }) => {
    const exact = exactValue(validator, schemas[name] ?? true, headers[name])
    return exact === undefined ? [] : [[name, exact.value]]
  })
  if (declared.some(({ name, isRequired }) => isRequired && !given.some(([sent]) => sent === name))) return undefined
  const [first = ''] = Object.keys(content)
  const { schema } = content[contentType ?? ''] ?? content[first] ?? {}
  const exact = schema === undefined ? { value: body } : exactBody(validator, schema, contentType ?? first, body)
  if (exact === undefined) return undefined
  return {
    status,
    ...(given.length > 0 && { headers: Object.fromEntries(given) }),
    ...(contentType !== undefined && { contentType }),
    body: exact.value,
  }
}

function exactBody(validator: Validator, schema: Schema, mediaType: string, body: unknown): Exact | undefined {
  if (body instanceof Uint8Array) return { value: body }
  if (!isShownStream(body)) return exactValue(validator, schema, body)
  const items = body.items.flatMap((item) => {
    if (kindOf(mediaType) === 'lines') return exactValue(validator, schema, item) ?? []
    const exact = exactValue(validator, schema, (item as ServerSentEvent).data)
    return exact === undefined ? [] : { value: { data: exact.value } }
  })
  if (items.length < body.items.length) return undefined
  return { value: shownStream(items.map(({ value }) => value)) }
}

/** Returns a value with each int64 as a bigint, or undefined if the value is not JSON or breaks its schema. */
function exactValue(validator: Validator, schema: Schema, value: unknown): Exact | undefined {
  try {
    const text = typeof value === 'bigint' ? value.toString() : JSON.stringify(value)
    const result = validator.request(schema, 'example')(parseJson(text))
    return 'value' in result ? result : undefined
  } catch {
    return undefined
  }
}
