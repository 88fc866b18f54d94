import { kindOf, recordSeparator, responseKey, type Schema } from 'fastify-contract/contract'
import { parseJson } from 'fastify-contract/json'
import type { Exchange } from '../exchange.ts'
import type { ResponseContract } from './check.ts'
import { describedType, headerOf, isDescribed, isWithoutContent } from './documented-response.ts'

export type JsonDocument = ReturnType<typeof parseJson>

/** The JSON values of the body of a response, with the schema of each; or why it has none. */
export type JsonBody = { schema: Schema; documents: JsonDocument[] } | { problem: string }

/** The maximum number of bytes of a body that is compared with its schema: a larger one takes seconds. */
const maxCompared = 2 ** 22

/** Returns the JSON of a response that the document describes; undefined if it describes no JSON for it. */
export function jsonBody(exchange: Exchange, { routeOf, isOwn }: ResponseContract): JsonBody | undefined {
  const { request, response } = exchange
  if (!isDescribed(exchange) || isWithoutContent(exchange) || response.body.length > maxCompared) return undefined
  const { response: described = {} } = routeOf(request.operation)?.schema ?? {}
  const { content = {} } = described[responseKey(described, response.status) ?? ''] ?? {}
  const sent = headerOf(response, 'content-type')
  const type = sent && describedType(Object.keys(content), sent)
  const schema = type === undefined ? undefined : content[type]?.schema
  if (sent === undefined || schema === undefined) return undefined
  const kind = kindOf(sent)
  if (kind !== 'json' && kind !== 'lines') return undefined
  const body = readJson(response.body, schema, kind)
  return isOwn || isComparable(response.body, kind, body) ? body : undefined
}

/**
 * Returns whether what this engine rejects in a body is no JSON for other servers either: the engine also rejects names
 * that occur twice, and deep nesting, which JSON allows (RFC 8259 sections 4 and 9).
 */
function isComparable(bytes: Uint8Array, kind: 'json' | 'lines', body: JsonBody): boolean {
  if (kind === 'lines' || !('problem' in body)) return true
  try {
    JSON.parse(new TextDecoder().decode(bytes))
    return false
  } catch {
    return true
  }
}

function readJson(body: Uint8Array, schema: Schema, kind: 'json' | 'lines'): JsonBody {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    const texts =
      kind === 'json' ? [text] : text.split(new RegExp(`[\\n${recordSeparator}]`)).filter((line) => line.trim() !== '')
    return { schema, documents: texts.map(parseJson) }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}
