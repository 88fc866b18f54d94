import { AsyncLocalStorage } from 'node:async_hooks'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type AnyErrorBody,
  type AnyHandler,
  type ApiKeyLocation,
  type ApiOptions,
  apiKey,
  basic,
  bearer,
  ContractError,
  createMultiServer,
  createServer,
  type Preconditions,
  type VerifierFactory,
} from 'fastify-contract'
import {
  type Contract,
  contentNegotiation,
  type HandlerResponse,
  isStream,
  parseHttpDate,
  responseKey,
} from 'fastify-contract/contract'
import { memoryKeys } from 'fastify-contract/idempotency'
import { parseExactJson } from 'fastify-contract/json'
import { pino } from 'pino'
import { type Document, type Endpoint, endpoints, type Located, type Response } from '../document/openapi-document.ts'
import { scopesOf, securityScheme, tokenVerifierOf } from '../document/security-schemes.ts'
import { exampleBody, exampleHeaders, exampleResponse, exampleResponses, hasExample } from '../examples/examples.ts'
import { sendableResponses } from '../examples/sendable-responses.ts'
import { normalizedDocument } from '../passes/normalize.ts'

/** `realm` is the realm in the challenges of 401; default: the title of the document. */
export type MockOptions = { realm?: string | undefined }

/** A document that a mock serves below a prefix; the only one has none. */
export type MockedContract = MockOptions & {
  prefix: string
  contract: Required<Contract>
  errorBody: AnyErrorBody
}

/** Loads the contract from the directory of the generated files. */
export async function generatedContract(generated: string): Promise<Required<Contract>> {
  return (await import(pathToFileURL(resolve(generated, 'contract.mjs')).href)).contract
}

/** A server that responds with the examples of a document, with the title and version of the document. */
export type Mock = { title: string; version: string; app: FastifyInstance }

/** Returns a server that responds with the examples of a document. */
export function mockServer(contract: Required<Contract>, errorBody: AnyErrorBody, options: MockOptions): Mock {
  return { ...contract.routes.info, app: mockServers([{ ...options, prefix: '', contract, errorBody }]) }
}

/** Returns a server that responds with the examples of documents, each below its prefix unless there is only one. */
export function mockServers(mocked: [MockedContract, ...MockedContract[]]): FastifyInstance {
  // A mock of a busy machine still responds to each request.
  const limits = { authFailures: 0, eventLoopDelay: Number.POSITIVE_INFINITY }
  const shared = { limits, log: pino({ level: 'error' }) }
  const [first, ...others] = mocked
  if (first.prefix === '' && others.length === 0) return createServer({ ...exampleOptions(first), ...shared })
  const contracts = Object.fromEntries(mocked.map((one) => [one.prefix, exampleOptions(one)]))
  return createMultiServer<Record<string, never>>({ ...shared, contracts, errors: first.prefix })
}

/** Returns the options with which the engine responds with the examples of a document. */
function exampleOptions({ contract, errorBody, realm }: MockedContract): ApiOptions<never> {
  const { documentText, routes } = contract
  const document = normalizedDocument(parseExactJson(documentText) as Document)
  const operations = new Map(endpoints(document).map((endpoint) => [endpoint.operationId, endpoint]))
  const negotiations = new Map(
    routes.operations.map(({ operationId, schema }) => [operationId, contentNegotiation(schema)]),
  )
  const sendable = sendableResponses(contract)
  const chosen = new AsyncLocalStorage<HandlerResponse | undefined>()
  const respond = async (
    { body, preconditions }: { body: unknown; preconditions?: Preconditions },
    request: FastifyRequest,
  ) => {
    const outcome = chosen.getStore()
    // The parts of a multipart form are validated while they are read.
    if (isStream(body)) for await (const _part of body);
    if (outcome === undefined) {
      const message = 'the document has no valid example of this response, and none can be made of its schema; add one'
      throw new ContractError('notImplemented', message)
    }
    if (preconditions === undefined || outcome.status > 299) return outcome
    return { ...outcome, checked: preconditions.check(currentState(request) as never) }
  }
  /**
   * Returns the validators in the example of the operation that reads the resource of a write; undefined for a request that
   * may only create the resource.
   */
  const currentState = ({ headers, routeOptions }: FastifyRequest) => {
    if (headers['if-none-match'] !== undefined) return undefined
    const { operationId } = routeOptions.schema as { operationId: string }
    const path = operations.get(operationId)?.path
    const read = endpoints(document).find((endpoint) => endpoint.method === 'GET' && endpoint.path === path)
    return validatorsOf(read === undefined ? undefined : chosenResponse(read))
  }
  /** Returns the preferred response, or the first example that the service would send; undefined if there is none. */
  const chosenResponse = (endpoint: Endpoint, accept?: string, preferred?: PreferredResponse) => {
    const outcomes = preferred === undefined ? examplesOf(document, endpoint, accept) : [preferred.outcome]
    for (const outcome of outcomes) {
      const sent = sendable(endpoint.operationId, outcome)
      if (sent !== undefined) return sent
    }
    return undefined
  }
  const handlers = Object.fromEntries(Array.from(operations.keys(), (id) => [id, respond as AnyHandler]))
  return {
    contract,
    handlers: handlers as never,
    verifiers: anyCredentials(document),
    errorBody: errorBody as never,
    realm: realm ?? routes.info.title,
    idempotency: { store: memoryKeys() },
    plugins: (instance) => void instance.addHook('preHandler', chooseExample),
  }

  function chooseExample({ headers, routeOptions }: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const { operationId } = routeOptions.schema as { operationId: string }
    const endpoint = operations.get(operationId) as Endpoint
    const accept = negotiations.get(operationId)?.choose(headers.accept)
    const preferred = preferredResponse(document, endpoint, String(headers.prefer ?? ''), accept)
    if (preferred !== undefined) reply.header('preference-applied', preferred.applied)
    chosen.run(chosenResponse(endpoint, accept, preferred), done)
  }
}

/** Returns the validators in the headers of a response; none if it has none. */
function validatorsOf(response: HandlerResponse | undefined) {
  const headers = new Map(Object.entries(response?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
  const time = parseHttpDate(String(headers.get('last-modified')))
  return { etag: headers.get('etag'), lastModified: time === undefined ? undefined : new Date(time) }
}

/** Yields the example responses of an operation in the media type `accept`, and then those of `exampleResponses`. */
function* examplesOf(document: Document, endpoint: Endpoint, accept?: string): Generator<HandlerResponse> {
  yield exampleResponse(document, endpoint, accept)
  for (const { outcome } of exampleResponses(document, endpoint)) {
    if (accept === undefined || (outcome.contentType ?? accept) === accept) yield outcome
  }
}

/** The response that a request prefers; `applied` is the value of the header Preference-Applied. */
export type PreferredResponse = { outcome: HandlerResponse; applied: string }

/** Matches a preference with a value (RFC 7240 section 2), without its parameters. */
const preference = /(?:^|,)[ \t]*([\w-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]+))/g

/**
 * Returns the response of an operation that a request prefers with `code=STATUS` and `example=NAME`, in the media type
 * `accept` or its first one. Returns undefined if there is none: RFC 7240 says that such a preference is ignored.
 */
export function preferredResponse(
  document: Document,
  endpoint: Endpoint,
  prefer: string,
  accept?: string,
): PreferredResponse | undefined {
  const given = Array.from(prefer.matchAll(preference), ([, name = '', quoted, token = '']) => [
    name.toLowerCase(),
    quoted?.replace(/\\(.)/g, '$1') ?? token,
  ])
  // If a preference occurs more than once, the first one counts (RFC 7240 section 2).
  const { code = '', example = '' } = Object.fromEntries(given.reverse())
  const coded = /^[2-5]\d\d$/.test(code) ? responseOf(endpoint, code) : undefined
  const usual = exampleResponse(document, endpoint)
  const status = coded === undefined ? usual.status : Number(code)
  const response = coded ?? responseOf(endpoint, String(status))
  const isNamed = response !== undefined && hasExample(response, example)
  const applied = [...(coded === undefined ? [] : [`code=${code}`]), ...(isNamed ? [`example=${example}`] : [])]
  if (response === undefined || applied.length === 0) return undefined
  const body = exampleBody(document, response, { name: example, accept })
  return { outcome: { status, ...exampleHeaders(document, response), ...body }, applied: applied.join(', ') }
}

/** Returns the response for a status: its own, that of its range, or the default one. */
const responseOf = ({ responses }: Endpoint, code: string): Located<Response> | undefined =>
  responses[responseKey(responses, code) ?? '']

/**
 * Returns the verifiers of the security schemes that the operations of a document require. They accept any well-formed
 * credentials and grant every scope. Schemes that the service has no verifier for need no credentials.
 */
export function anyCredentials(document: Document): Record<string, VerifierFactory> {
  const anybody = { name: 'anybody', scopes: scopesOf(document) }
  const verify = () => anybody
  const verifierOf = (name: string): VerifierFactory => {
    const scheme = securityScheme(document, name)
    const verifier = tokenVerifierOf(scheme)
    if (verifier === 'apiKey') return apiKey(scheme as ApiKeyLocation, verify)
    if (verifier === 'basic') return basic(verify)
    if (verifier === 'bearer') return bearer(verify)
    return () => (_request, done) => done(undefined, anybody)
  }
  const names = endpoints(document).flatMap(({ security }) => security.flatMap(Object.keys))
  return Object.fromEntries(names.map((name) => [name, verifierOf(name)]))
}
