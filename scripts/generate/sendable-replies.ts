import { exactReply, type Int64Replies, replyPlace } from '../../src/client/exact-reply.ts'
import { kindOf } from '../../src/openapi/media-types.ts'
import type { Operation } from '../../src/openapi/routes.ts'
import type { Schema } from '../../src/openapi/schema-keywords.ts'
import type { Outcome } from '../../src/openapi/send-response.ts'
import type { Validator } from '../../src/openapi/validator.ts'
import type { Endpoint } from './openapi-document.ts'

type Served = { table: Int64Replies; validator: Validator; operation: Operation; endpoint: Endpoint }

/**
 * Returns a reply as a handler gives it, each int64 a bigint, which is a number in an example of the document. Headers
 * that break their schemas are left out. Returns undefined where the service would not send the reply.
 */
export function sendableReply(served: Served, shown: Outcome): Outcome | undefined {
  const { validator, operation } = served
  const { response } = operation.schema
  const { status, headers = {}, contentType } = shown
  const key = [`${status}`, `${Math.trunc(status / 100)}XX`].find((each) => Object.hasOwn(response, each)) ?? 'default'
  const { content = {}, headers: schemas = {} } = response[key] ?? {}
  const isValid = (schema: Schema, value: unknown) => attempt(() => [validator.response(schema)(value)]) !== undefined
  const declared = operation.replyHeaders?.[key] ?? []
  const sent = declared.filter(({ name }) => isValid(schemas[name] ?? true, headers[name]))
  if (declared.some((header) => header.isRequired && !sent.includes(header))) return undefined
  const given = sent.length === 0 ? {} : { headers: Object.fromEntries(sent.map(({ name }) => [name, headers[name]])) }
  const [first] = Object.keys(content)
  const media = content[contentType ?? ''] ?? content[first as string]
  const exact = attempt(() => exactBody(served, shown, first))
  if (exact === undefined || (media !== undefined && !isValid(media.schema, exact.value))) return undefined
  return { status, ...given, ...(contentType !== undefined && { contentType }), body: exact.value }
}

function exactBody(
  { table, endpoint: { method, path } }: Served,
  { status, contentType, body }: Outcome,
  mediaType: string | undefined,
) {
  const isJson = body !== undefined && kindOf(contentType ?? (mediaType as string)) === 'json'
  const place = isJson ? replyPlace(table, `${method} ${path}`, status) : undefined
  return { value: place === undefined ? body : exactReply(JSON.stringify(body), table, place) }
}

/** Returns what a function returns, undefined when it throws. */
function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}
