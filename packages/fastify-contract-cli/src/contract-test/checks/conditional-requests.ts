import { preconditionsOf } from '../../document/preconditions.ts'
import type { Exchange, TestRequest } from '../exchange.ts'
import type { FoundBySending, Probe, Tools } from './check.ts'
import { headerOf, isSuccess } from './documented-response.ts'

/** An entity tag that no resource has. */
const staleTag = '"fastify-contract-stale"'

export const conditionalRequests: Probe = {
  name: 'conditional-requests',
  summary:
    'Where the document lists 304, a GET with the current ETag in If-None-Match gets it. Where it lists 412, a write with ' +
    'another ETag in If-Match is not accepted, and one with the current ETag does not get 412.',
  async probe(exchange, tools) {
    const { operation, method } = exchange.request
    const rules = preconditionsOf(tools.contract.document, operation)
    if (rules === undefined || method !== operation.method || !rules.validators.includes('etag')) return []
    if (rules.of === 'write') return await probeWrite(exchange, tools)
    return method === 'GET' && rules.statuses.includes(304) ? await probeRead(exchange, tools) : []
  },
}

const withHeader = (request: TestRequest, name: string, value: string): TestRequest => ({
  ...request,
  headers: { ...request.headers, [name]: value },
})

async function probeRead({ request }: Exchange, { send }: Tools): Promise<FoundBySending[]> {
  const current = await send(request)
  const etag = current && headerOf(current, 'etag')
  if (etag === undefined) return []
  const conditional = withHeader(request, 'if-none-match', etag)
  const response = await send(conditional)
  if (response === undefined || !isSuccess(response)) return []
  const exchange = { request: conditional, response }
  const expected = 'status 304 for the ETag of the last response'
  return [{ expected, got: `status ${response.status}`, kind: 'if-none-match', exchange, earlier: [request] }]
}

async function probeWrite({ request }: Exchange, tools: Tools): Promise<FoundBySending[]> {
  const stale = withHeader(request, 'if-match', staleTag)
  const response = await tools.send(stale)
  if (response === undefined) return []
  if (isSuccess(response)) {
    const exchange = { request: stale, response }
    const expected = 'status 412 for an ETag that the resource does not have'
    return [{ expected, got: `status ${response.status}`, kind: 'if-match', exchange, earlier: [] }]
  }
  return await probeCurrent(request, tools)
}

/** Sends a write with the tag that a GET of its path has now. */
async function probeCurrent(request: TestRequest, { readAt, send }: Tools): Promise<FoundBySending[]> {
  const get = readAt(request)
  const found = get && (await send(get))
  const etag = found && isSuccess(found) ? headerOf(found, 'etag') : undefined
  // A weak tag never satisfies If-Match.
  if (get === undefined || etag === undefined || etag.startsWith('W/')) return []
  const conditional = withHeader(request, 'if-match', etag)
  const response = await send(conditional)
  if (response?.status !== 412) return []
  const exchange = { request: conditional, response }
  const expected = 'no 412 for the ETag of a GET of the same path'
  return [{ expected, got: 'status 412', kind: 'if-match', exchange, earlier: [get] }]
}
