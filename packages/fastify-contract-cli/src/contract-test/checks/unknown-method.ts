import type { TestRequest, TestResponse } from '../exchange.ts'
import type { Found, Probe } from './check.ts'
import { headerOf, shapeOf } from './documented-response.ts'

/** The methods of which the first is sent that a path does not have. A server may serve HEAD and OPTIONS everywhere. */
const methods = ['PATCH', 'PUT', 'POST', 'DELETE', 'GET']

export const unknownMethod: Probe = {
  name: 'unknown-method',
  summary:
    'A method that the document does not list for a path gets 405, with an Allow header. In any other server it ' +
    'may get any other status from 300.',
  async probe({ request }, { contract, operations, send }) {
    const { operation, target, headers } = request
    const shape = shapeOf(operation.path)
    const known = operations.filter(({ path }) => shapeOf(path) === shape).map(({ method }) => method)
    const method = methods.find((one) => !known.includes(one))
    // The check is made once for each path.
    if (method === undefined || operation.method !== known[0]) return []
    const { 'content-type': _, ...others } = headers
    const sent: TestRequest = { ...request, method, target, headers: others, body: undefined }
    const response = await send(sent)
    const found = response && methodProblem(response, method, contract.isOwn)
    return response && found ? [{ ...found, exchange: { request: sent, response }, earlier: [] }] : []
  },
}

function methodProblem(response: TestResponse, method: string, isOwn: boolean): Found | undefined {
  const { status } = response
  if (status === 405) {
    if (headerOf(response, 'allow') !== undefined) return undefined
    return { expected: 'an Allow header in a response with the status 405', got: 'no such header', kind: 'allow' }
  }
  if (!isOwn && status >= 300) return undefined
  return {
    expected: `status 405 for ${method}, which the document does not list`,
    got: `status ${status}`,
    kind: 'status',
  }
}
