import { decodeJson } from '../json/decode-json.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { type JsonError, parseJson } from '../json/parse-json.ts'

/** A message of JSON-RPC 2.0, with the document that holds its exact numbers. */
export type RpcMessage = { value: Record<string, unknown>; document: JsonDocument }

/** What a client sent. An error is the text of a response. */
export type Received = RpcMessage | { error: string } | { isBatch: true }

/** Returns the text of an error response without an id (JSON-RPC 2.0 section 5.1). */
const errorText = (code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })

const invalidRequest = (problem: string) => ({ error: errorText(-32_600, `Invalid request: ${problem}`) })

/** Returns whether a value of a JSON text is an object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Parses one message. Its JSON is as strict as that of a request body, so no name occurs twice and no text has a lone
 * surrogate. An id that a double rounds is rejected, since the response would have another one.
 */
export function parseMessage(bytes: Buffer): Received {
  let document: JsonDocument
  try {
    document = parseJson(decodeJson(bytes))
  } catch (error) {
    return { error: errorText(-32_700, `Parse error: ${(error as JsonError).message}`) }
  }
  const { value } = document
  if (Array.isArray(value)) return { isBatch: true }
  if (!isObject(value)) return invalidRequest('it must be an object')
  const { id } = value
  if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id))
    return invalidRequest('its id must be a string or an integer that a double holds')
  return { value, document }
}
