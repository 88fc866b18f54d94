import type { InjectOptions } from 'fastify'
import type { Contract } from 'fastify-contract/contract'
import { parseExactJson, stringifyJson } from 'fastify-contract/json'
import { createValidator, loadSchemaCode } from 'fastify-contract/schema'
import { type Document, type Endpoint, endpoints } from '../document/openapi-document.ts'
import { conflictingSchemes } from '../document/security-schemes.ts'
import { normalizedDocument } from '../passes/normalize.ts'
import { type ExampleRequest, exampleRequest } from './example-request.ts'
import type { ExampleBody } from './request-examples.ts'
import { validRequests } from './valid-requests.ts'

/** An example request of an operation, for Fastify's `inject`. */
export type ExampleCall = { operationId: string; request: InjectOptions }

/**
 * Returns a request for each operation of a contract, in document order, with the examples of the document and with a
 * token as its credentials. Where the document has no valid example, values are made from the schema. Leaves out an
 * operation if the service would reject each of these requests.
 */
export const exampleCalls = (contract: Contract, token: string): ExampleCall[] =>
  requestsOf(contract, token).map(callOf)

function callOf({ operationId, request }: ReturnType<typeof requestsOf>[number]): ExampleCall {
  const { method, server, target, headers, body, sent } = request
  // inject sets the type of a form itself, with its boundary.
  const { 'Content-Type': _, ...others } = headers
  return {
    operationId,
    request: {
      method: method as 'GET',
      url: new URL(server).pathname.replace(/\/$/, '') + target,
      headers: sent?.kind === 'multipart' ? others : headers,
      ...(sent !== undefined && { payload: payloadOf(body, sent) }),
    },
  }
}

function payloadOf(body: unknown, { kind, text, parts, file }: ExampleBody): string | Buffer | FormData {
  if (kind === 'json') return String(stringifyJson(body))
  if (kind === 'bytes') return Buffer.from(file)
  if (kind !== 'multipart') return text
  const form = new FormData()
  for (const part of parts) {
    if ('file' in part) form.append(part.name, new Blob([part.file], { type: part.mediaType }), part.file)
    else form.append(part.name, part.text)
  }
  return form
}

/** Returns whether a request can meet the security requirements of an operation. */
const isMet = (document: Document, { security }: Endpoint): boolean =>
  security.length === 0 || security.some((requirement) => conflictingSchemes(document, requirement) === undefined)

function requestsOf({ documentText, routes, schemaCode }: Contract, token: string) {
  const document = normalizedDocument(parseExactJson(documentText) as Document)
  const compiled = schemaCode === undefined ? undefined : loadSchemaCode(schemaCode, routes)
  const valid = validRequests(document, routes, createValidator(routes.schemas, compiled))
  const found: { operationId: string; request: ExampleRequest }[] = []
  for (const { endpoint, invalidPart } of endpoints(document).map(valid))
    if (invalidPart === undefined && isMet(document, endpoint))
      found.push({ operationId: endpoint.operationId, request: exampleRequest(document, endpoint, { token }) })
  return found
}
