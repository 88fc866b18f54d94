import type { LocationLink, Operation } from '../contract/routes.ts'
import { type CallbackContext, runtimeValue } from '../contract/runtime-expression.ts'
import { pathOf } from '../request/path-parameters.ts'
import { responseKey, type SendResponse } from '../response/send-response.ts'

/**
 * Returns a function that sends the responses of an operation with the header Location of the resource to which a link of
 * the document leads, unless the handler returns one. Undefined if the operation has no such link.
 */
export function locatedSender(operation: Operation, send: SendResponse): SendResponse | undefined {
  const { operationId, responseHeaders = {} } = operation
  const links = new Map<string, { name: string; link: LocationLink }>()
  for (const [key, headers] of Object.entries(responseHeaders))
    for (const { name, link } of headers) if (link !== undefined) links.set(key, { name, link })
  if (links.size === 0) return undefined
  const describedPath = pathOf(operation)
  return function sendLocated(senders, reply, response) {
    const { status, headers = {}, body } = response
    const found = links.get(responseKey(operation.schema.response, status) ?? '')
    if (found === undefined || headers[found.name] !== undefined) return send(senders, reply, response)
    const { params, query, headers: header } = reply.request
    const request = { path: describedPath(params as object), query: query as object, header }
    const context: CallbackContext = { request, response: { status, headers, body } }
    const location = `${reply.server.prefix}${pathIn(found.link, context, operationId)}`
    return send(senders, reply, { ...response, headers: { ...headers, [found.name]: location } })
  }
}

/** Returns the path of the resource to which a link leads. Throws for a value that would lead to another path. */
function pathIn({ path, values }: LocationLink, context: CallbackContext, operationId: string): string {
  return path.replace(/\{([^{}]*)\}/g, function encodedValue(_, name: string) {
    const value = runtimeValue(values[name], context)
    const text = ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : ''
    if (['', '.', '..'].includes(text))
      throw new Error(`operation ${operationId}: the link to ${path} has no value for ${name}; return Location`)
    return encodeURIComponent(text)
  })
}
