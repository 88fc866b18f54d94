import { responseKey } from 'fastify-contract/contract'
import { runtimeValue } from 'fastify-contract/webhooks'
import { join, normalized, resolve } from '../../document/json-pointer.ts'
import { type Document, type Endpoint, locate, named } from '../../document/openapi-document.ts'
import { isNode } from '../../document/walk-document.ts'
import { createdIsReadable } from '../checks/checks.ts'
import type { Exchange } from '../exchange.ts'
import { exchangeJson } from './exchange-json.ts'
import type { SequenceTools } from './lifecycle.ts'
import { withParameters } from './moved-request.ts'

/** An operation to which a response leads, with values of its parameters by location and name, such as `path id`. */
type Followed = { operation: Endpoint; parameters: Map<string, unknown>; body: unknown }

type Link = { operationId?: string; operationRef?: string; parameters?: Record<string, unknown>; requestBody?: unknown }

/** Returns the operations to which the links of a response lead (OpenAPI 3.1 section 4.8.20). */
function followedLinks(document: Document, operations: Endpoint[], exchange: Exchange): Followed[] {
  const { request, response } = exchange
  const { responses } = request.operation
  const { pointer = '' } = responses[responseKey(responses, response.status) ?? ''] ?? {}
  const { links } = Object(resolve(document, pointer)) as { links?: unknown }
  const found: Followed[] = []
  for (const name of isNode(links) ? named(links) : []) {
    const link = locate<Link>(document, join(pointer, 'links', name))
    const target = normalized(link.operationRef ?? '')
    const operation = operations.find(({ operationId, pointer }) =>
      link.operationId === undefined ? target === pointer : link.operationId === operationId,
    )
    const followed = operation && followedLink(operation, link, exchange)
    if (followed !== undefined) found.push(followed)
  }
  return found
}

/** Returns what a link leads to; undefined if the exchange lacks a value that the link needs. */
function followedLink(
  operation: Endpoint,
  { parameters = {}, requestBody }: Link,
  exchange: Exchange,
): Followed | undefined {
  const context = exchangeJson(exchange)
  const values = new Map<string, unknown>()
  for (const [given, expression] of Object.entries(parameters)) {
    const [, location, name = given] = /^(path|query|header|cookie)\.(.*)$/s.exec(given) ?? []
    const parameter = operation.parameters.find((one) => one.name === name && (location ?? one.in) === one.in)
    const value = runtimeValue(expression, context)
    if (parameter === undefined || value === undefined || value === null) return undefined
    values.set(`${parameter.in} ${parameter.name}`, value)
  }
  return {
    operation,
    parameters: values,
    body: requestBody === undefined ? undefined : runtimeValue(requestBody, context),
  }
}

/**
 * Follows the links of a response. What a link with a GET leads to must exist, since the response itself says so: a
 * resource that the request created, or that it names.
 */
export async function followLinks(
  document: Document,
  operations: Endpoint[],
  exchange: Exchange,
  { valid, write, send, countLook, fail }: SequenceTools,
): Promise<void> {
  const isCreation = exchange.request.method === 'POST' && exchange.response.status === 201
  for (const { operation, parameters, body } of followedLinks(document, operations, exchange)) {
    // What is deleted cannot be tested further, so sequences delete only what they created.
    if (operation.method === 'DELETE') continue
    const base = valid(operation, 0)
    const request = base && withParameters(write, base, parameters, body)
    const followed = request && (await send(request))
    if (followed === undefined || !isCreation || operation.method !== 'GET') continue
    countLook(createdIsReadable)
    const { status } = followed.response
    if (status !== 404 && status !== 410) continue
    const expected = `what the link of ${exchange.request.method} ${exchange.request.operation.path} leads to`
    fail(createdIsReadable, { expected, got: `status ${status}` }, followed, [exchange.request])
  }
}
