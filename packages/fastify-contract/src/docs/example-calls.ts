import type { InjectOptions } from 'fastify'
import { normalizedDocument } from '../compile/document/normalize.ts'
import { type Document, endpoints } from '../compile/document/openapi-document.ts'
import type { ExampleBody } from '../compile/emit/request-file.ts'
import { stringifyJson } from '../json/json-document.ts'
import { curl } from './code-samples.ts'
import { type ExampleRequest, exampleRequest } from './example-request.ts'

/** The text of a published document, as `loadContract` returns it. */
type Published = { documentText: string }

/** An example request of an operation, for Fastify's `inject`. */
export type ExampleCall = { operationId: string; request: InjectOptions }

/**
 * Returns a request for each operation of a contract, in document order, with the examples of the document and with a
 * token as its credentials. Where the document has no example, values are made from the schema.
 */
export const exampleCalls = (contract: Published, token: string): ExampleCall[] =>
  requestsOf(contract, token).map(({ operationId, request }) => {
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
  })

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

/**
 * Returns a curl command that calls the first operation of a contract at `url` with a token; of the operations that
 * need no file, if there is one. Returns undefined if the contract has no operation.
 */
export function exampleCurl(url: string, token: string, contract: Published): string | undefined {
  const requests = requestsOf(contract, token).map(({ request }) => request)
  const request = requests.find(({ sent }) => !hasFile(sent)) ?? requests[0]
  if (request === undefined) return undefined
  return curl({ ...request, server: url + new URL(request.server).pathname.replace(/\/$/, '') })
}

const hasFile = (sent: ExampleBody | undefined): boolean =>
  sent !== undefined && (sent.kind === 'bytes' || sent.parts.some((part) => 'file' in part))

function requestsOf({ documentText }: Published, token: string): { operationId: string; request: ExampleRequest }[] {
  const document = normalizedDocument(JSON.parse(documentText) as Document)
  return endpoints(document).map((endpoint) => ({
    operationId: endpoint.operationId,
    request: exampleRequest(document, endpoint, token),
  }))
}
