import type { TestRequest, TestResponse } from '../exchange.ts'
import type { Found, Probe } from './check.ts'
import { headerOf, shapeOf } from './documented-response.ts'

/** Headers that a response to HEAD has in common with one to GET, if it has them. */
const compared = ['content-type', 'etag', 'last-modified', 'content-language', 'content-encoding', 'cache-control']

export const headAsGet: Probe = {
  name: 'head-as-get',
  summary: 'HEAD gets the status and the headers of GET, without the body.',
  async probe({ request }, { contract, operations, send }) {
    if (request.method !== 'GET') return []
    // A document with an operation for HEAD describes it itself.
    if (operations.some((one) => one.method === 'HEAD' && shapeOf(one.path) === shapeOf(request.operation.path)))
      return []
    const head: TestRequest = { ...request, method: 'HEAD' }
    const got = await send(head)
    const expected = await send(request)
    if (got === undefined || expected === undefined) return []
    const found = headDifference(expected, got, contract.isOwn)
    return found === undefined ? [] : [{ ...found, exchange: { request: head, response: got }, earlier: [] }]
  },
}

function headDifference(get: TestResponse, head: TestResponse, isOwn: boolean): Found | undefined {
  // Many servers serve HEAD only where it is declared, although RFC 9110 section 9.1 requires it.
  if ([404, 405, 501].includes(head.status) && !isOwn) return undefined
  if (get.status !== head.status)
    return { expected: `the status of GET, ${get.status}`, got: `status ${head.status}`, kind: 'status' }
  for (const name of compared) {
    const [value, sent] = [headerOf(get, name), headerOf(head, name)]
    if (sent === undefined || value === sent) continue
    if (isOwn || value !== undefined)
      return { expected: `the header ${name} of GET, ${JSON.stringify(value)}`, got: JSON.stringify(sent), kind: name }
  }
  return undefined
}
