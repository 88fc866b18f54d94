import type { InjectOptions } from 'fastify'
import { integersIn } from '../compile/document/exact-integers.ts'
import { normalizedDocument } from '../compile/document/normalize.ts'
import { type Document, type Endpoint, endpoints, type MediaType } from '../compile/document/openapi-document.ts'
import type { WithExample } from '../compile/document/parameter-objects.ts'
import { generatedValue } from '../compile/emit/examples.ts'
import type { ExampleBody } from '../compile/emit/request-file.ts'
import { stringifyJson } from '../json/json-document.ts'
import { parseJson } from '../json/parse-json.ts'
import type { Contract } from '../serve/contract.ts'
import { createValidator } from '../serve/validator.ts'
import { curl } from './code-samples.ts'
import { type ExampleRequest, exampleRequest } from './example-request.ts'

/** An example request of an operation, for Fastify's `inject`. */
export type ExampleCall = { operationId: string; request: InjectOptions }

/**
 * Returns a request for each operation of a contract, in document order, with the examples of the document and with a
 * token as its credentials. Where the document has no example, values are made from the schema.
 */
export const exampleCalls = (contract: Contract, token: string): ExampleCall[] =>
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
export function exampleCurl(url: string, token: string, contract: Contract): string | undefined {
  const requests = requestsOf(contract, token).map(({ request }) => request)
  const request = requests.find(({ sent }) => !hasFile(sent)) ?? requests[0]
  if (request === undefined) return undefined
  return curl({ ...request, server: url + new URL(request.server).pathname.replace(/\/$/, '') })
}

const hasFile = (sent: ExampleBody | undefined): boolean =>
  sent !== undefined && (sent.kind === 'bytes' || sent.parts.some((part) => 'file' in part))

function requestsOf({ documentText, routes }: Contract, token: string) {
  const document = normalizedDocument(JSON.parse(documentText) as Document)
  const integers = integersIn(documentText)
  const validator = createValidator(routes.schemas)
  const operations = new Map(routes.operations.map((operation) => [operation.operationId, operation]))
  return endpoints(document).map((endpoint) => {
    const schemas = operations.get(endpoint.operationId)?.schema.body?.content ?? {}
    const candidates = withBodies(document, endpoint).map((each) => exampleRequest(document, each, { token, integers }))
    const valid = candidates.find(({ body, sent }) => {
      const schema = sent?.kind === 'json' ? schemas[sent.mediaType]?.schema : undefined
      return (
        schema === undefined || 'value' in validator.request(schema, 'body')(parseJson(String(stringifyJson(body))))
      )
    })
    return { operationId: endpoint.operationId, request: valid ?? (candidates[0] as ExampleRequest) }
  })
}

/**
 * Returns an endpoint with its own examples of the request body, with those of the schema, and with a value that is
 * made without examples: an example of the document may be invalid.
 */
function withBodies(document: Document, endpoint: Endpoint): Endpoint[] {
  const { requestBody } = endpoint
  if (requestBody === undefined) return [endpoint]
  const withContent = (change: (media: MediaType) => MediaType): Endpoint => {
    const content = Object.entries(requestBody.content).map(([type, media]) => [type, change(media)])
    return { ...endpoint, requestBody: { ...requestBody, content: Object.fromEntries(content) } }
  }
  const without = ({ example: _, examples: __, ...media }: WithExample & MediaType): MediaType => media
  return [
    endpoint,
    withContent(without),
    withContent((media) => ({ ...without(media), example: generatedValue(document, media.schema ?? {}) }) as MediaType),
  ]
}
