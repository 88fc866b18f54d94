import type { AnyHandler } from 'fastify-contract'
import type { Schema } from 'fastify-contract/contract'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { type Document, type Endpoint, endpoints } from '../../src/document/openapi-document.ts'
import { securityScheme } from '../../src/document/security-schemes.ts'
import { requestParts } from '../../src/emit/requests-http.ts'
import { generatedValue } from '../../src/examples/schema-values.ts'
import { anyCredentials } from '../../src/mock/mock-server.ts'
import { normalizedDocument } from '../../src/passes/normalize.ts'
import { serveRoutes } from '../support/serve-document.ts'
import { type AjvVerdicts, ajvVerdicts, type ServiceResponse } from './document-responses.ts'
import type { Served } from './printed-handlers.ts'

/** The result of calling an operation. `byOwnExample`: the request was made from the document's own examples. */
export type Call = { name: string; answer: ServiceResponse; problem: string | undefined; byOwnExample: boolean }

/** Serves a document with the given handlers and calls each of its operations over a socket. */
export async function callOperations(
  { name, contract }: Served,
  handlers: Record<string, AnyHandler>,
): Promise<Call[]> {
  const document = normalizedDocument(JSON.parse(contract.documentText))
  const verifiers = anyCredentials(document)
  const app = await serveRoutes(contract.routes, { handlers, verifiers })
  try {
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    const plain = ajvVerdicts(document)
    const calls: Call[] = []
    for (const endpoint of endpoints(document))
      calls.push({
        ...(await call(document, endpoint, plain, origin)),
        name: `${name}: ${endpoint.method} ${endpoint.path}`,
      })
    return calls
  } finally {
    await app.close()
  }
}

/** Calls an operation with the document's examples; if those get a 400, with values derived from its schemas. */
async function call(
  document: Document,
  endpoint: Endpoint,
  plain: AjvVerdicts,
  origin: string,
): Promise<Omit<Call, 'name'>> {
  const first = await send(document, endpoint, origin)
  const problem = bodyProblem(endpoint, plain, first)
  if (first.answer.status !== 400 || problem !== undefined)
    return { answer: first.answer, problem: problem ?? plain.problemOf(endpoint, first.answer), byOwnExample: true }
  const second = await send(document, withMadeValues(document, endpoint), origin)
  const next = bodyProblem(endpoint, plain, second) ?? plain.problemOf(endpoint, second.answer)
  return { answer: second.answer, problem: next, byOwnExample: false }
}

type Sent = { answer: ServiceResponse; contentType: string; body: string | undefined }

/** Returns how the service and plain Ajv disagree on a request body; undefined if they agree. */
function bodyProblem(endpoint: Endpoint, plain: AjvVerdicts, { answer, contentType, body }: Sent): string | undefined {
  const isRefused = answer.status === 400 && /"body[/ ]/.test(answer.body)
  return isRefused === plain.isRequest(endpoint, contentType, body)
    ? `${answer.status}, but plain Ajv disagrees: ${answer.body}`
    : undefined
}

async function send(document: Document, endpoint: Endpoint, origin: string): Promise<Sent> {
  const { path, query, headers, body: shown } = requestParts(document, endpoint)
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`
  const fields = headers.map((line) =>
    withCredentials(document, endpoint, line)
      .split(/: (.*)/s)
      .slice(0, 2),
  )
  const { 'Content-Type': contentType = '', ...rest } = Object.fromEntries(fields) as Record<string, string>
  const body = shown && sentBody(contentType, shown)
  const {
    status,
    headers: sent,
    body: text,
  } = await httpRequest(origin + withCredentials(document, endpoint, target), {
    method: endpoint.method,
    headers: { ...rest, ...(body !== undefined && { 'Content-Type': contentType }) },
    ...(body !== undefined && { body }),
  })
  return { answer: { status, contentType: sent['content-type'], body: text }, contentType, body }
}

/** Returns what an editor sends for the body of a request file, in which "< ./name" stands for a file's content. */
function sentBody(contentType: string, shown: string): string {
  const text = shown.replaceAll(/^< \.\/.*$/gm, 'the bytes of a file')
  return contentType.startsWith('multipart/') ? text.replaceAll('\n', '\r\n') : text
}

/** Fills the placeholders of a request with credentials that the mock's verifiers accept. */
const withCredentials = (document: Document, { security }: Endpoint, text: string): string =>
  Object.keys(security[0] ?? {}).reduce((filled, name) => {
    const { type, scheme = '' } = securityScheme(document, name)
    const isBasic = type === 'http' && scheme.toLowerCase() === 'basic'
    return filled.replaceAll(`{{${name.replace(/\W/g, '_')}}}`, isBasic ? btoa('user:password') : 'token-of-this-test')
  }, text)

/** Returns an operation whose required parameters and body have examples derived from their schemas only. */
function withMadeValues(document: Document, endpoint: Endpoint): Endpoint {
  const made = <Given extends object>({ schema = {}, ...given }: Given & { schema?: Schema }) => ({
    ...given,
    schema,
    example: generatedValue(document, schema),
    examples: undefined,
  })
  const { parameters, requestBody } = endpoint
  return {
    ...endpoint,
    parameters: parameters.filter(({ required }) => required).map(made),
    requestBody: requestBody && {
      ...requestBody,
      content: Object.fromEntries(Object.entries(requestBody.content).map(([type, media]) => [type, made(media)])),
    },
  } as Endpoint
}
