import { kindOf } from 'fastify-contract/contract'
import { parseExactJson } from 'fastify-contract/json'
import type { CallbackContext } from 'fastify-contract/webhooks'
import { headerOf } from '../checks/documented-response.ts'
import type { Exchange, TestResponse } from '../exchange.ts'

/** Returns the value of a JSON text with exact integers; undefined if it is not JSON. */
export function exactJson(bytes: Uint8Array): unknown {
  try {
    return parseExactJson(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}

/** Returns the JSON of the body of a response with exact integers; undefined if there is none. */
export function responseJson(response: TestResponse): unknown {
  if (kindOf(headerOf(response, 'content-type') ?? '') !== 'json') return undefined
  return exactJson(response.body)
}

/** Returns an exchange in the form in which runtime expressions are evaluated. */
export function exchangeJson({ request, response }: Exchange): CallbackContext {
  const placed = { path: {}, query: {}, header: {} } as Record<string, Record<string, unknown>>
  for (const [key, value] of request.values.parameters) {
    const [location = '', name = ''] = key.split(/ (.*)/s)
    Object.assign(placed, { [location]: { ...placed[location], [name]: value } })
  }
  return {
    method: request.method,
    request: { ...placed, body: request.values.body?.value },
    response: { status: response.status, headers: response.headers, body: responseJson(response) },
  }
}
