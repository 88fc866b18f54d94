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
  return readJson(response.body, schema, kind, isOwn)
}

/** Reads JSON. Of a server that is not of this engine, JSON that is only not I-JSON or nested too deep is undefined. */
function readJson(body: Uint8Array, schema: Schema, kind: 'json' | 'lines', isOwn: boolean): JsonBody | undefined {
  let texts: string[] = []
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    texts =
      kind === 'json' ? [text] : text.split(new RegExp(`[\\n${recordSeparator}]`)).filter((line) => line.trim() !== '')
    return { schema, documents: texts.map(parseJson) }
  } catch (error) {
    if (!isOwn && texts.length > 0 && texts.every(isJson)) return undefined
    return { problem: (error as Error).message }
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
