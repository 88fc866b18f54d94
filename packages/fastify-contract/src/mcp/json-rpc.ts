import { decodeJson } from '../json/decode-json.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { type JsonError, parseJson } from '../json/parse-json.ts'

/** A request of JSON-RPC 2.0, with the document that holds its exact numbers. */
export type RpcRequest = {
  id: string | number
  method: string
  params: Record<string, unknown>
  document: JsonDocument
}

/** An error of JSON-RPC 2.0 (section 5.1). */
export type RpcError = { code: number; message: string }

/** What a client sent. Notifications and responses are accepted without an answer. */
export type RpcMessage = { request: RpcRequest } | { error: RpcError } | { isBatch: true } | { needsNoAnswer: true }

export const methodNotFound = -32_601
export const invalidParams = -32_602

/** Returns the error of a text that is not JSON. */
const parseError = (problem: string): RpcError => ({ code: -32_700, message: `Parse error: ${problem}` })

const invalidRequest = (message: string): RpcMessage => ({
  error: { code: -32_600, message: `Invalid request: ${message}` },
})

/** The members of a message (JSON-RPC 2.0 sections 4 and 5). */
const members = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']

/** Returns whether a value of a JSON text is an object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Parses one message. Its JSON is as strict as that of a request body, so no name occurs twice and no text has a lone
 * surrogate.
 */
export function parseMessage(bytes: Buffer): RpcMessage {
  let document: JsonDocument
  try {
    document = parseJson(decodeJson(bytes))
  } catch (error) {
    return { error: parseError((error as JsonError).message) }
  }
  const { value } = document
  if (Array.isArray(value)) return { isBatch: true }
  if (!isObject(value) || value.jsonrpc !== '2.0') return invalidRequest('it must be an object with "jsonrpc": "2.0"')
  if (Object.keys(value).some((name) => !members.includes(name))) return invalidRequest('it has an unknown member')
  const { id, method, params = {} } = value
  if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id))
    return invalidRequest('its id must be a string or an integer that a double holds')
  if (method === undefined && ('result' in value || 'error' in value)) return { needsNoAnswer: true }
  if (typeof method !== 'string') return invalidRequest('its method must be a string')
  if (!isObject(params)) return invalidRequest('its params must be an object')
  return id === undefined
    ? { needsNoAnswer: true }
    : { request: { id: id as string | number, method, params, document } }
}

/** Returns the text of a response with a result, which is a JSON text. */
export const resultText = (id: string | number, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`

/** Returns the text of a response with an error; without an id if the request has none that is valid. */
export const errorText = (error: RpcError, id: string | number | null = null): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error })
