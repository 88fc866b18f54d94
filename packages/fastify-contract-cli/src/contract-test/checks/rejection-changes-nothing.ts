import type { Endpoint } from '../../document/openapi-document.ts'
import type { TestRequest } from '../exchange.ts'
import type { FoundBySending, Probe, Tools } from './check.ts'
import { difference } from './compare-responses.ts'

/** The number of invalid requests that are sent between the GETs of one operation. */
const maxRejected = 8

/** Methods that may change something. */
const unsafe = ['POST', 'PUT', 'PATCH', 'DELETE']

export const rejectionChangesNothing: Probe = {
  name: 'rejection-changes-nothing',
  summary:
    'A request that is rejected with 4xx changes nothing: a GET of the same path gets the same response after it.',
  async probe({ request }, tools) {
    const { operation } = request
    if (request.method !== 'GET') return []
    const failures: FoundBySending[] = []
    for (const other of tools.operations)
      if (other.path === operation.path && unsafe.includes(other.method))
        failures.push(...(await probeOf(request, other, tools)))
    return failures
  },
}

/** Sends invalid requests of an operation with the path of a GET, with GETs around them. */
async function probeOf(get: TestRequest, other: Endpoint, tools: Tools): Promise<FoundBySending[]> {
  const { send, invalid } = tools
  const path = pathOf(get.target)
  const sent: TestRequest[] = []
  const before = [await send(get), await send(get)]
  const [first, second] = before
  if (first === undefined || second === undefined || difference(first, second) !== undefined) return []
  for (const one of invalid(other)
    .filter(({ violation }) => violation?.part !== 'path')
    .slice(0, maxRejected)) {
    const request = { ...one, target: path + one.target.slice(pathOf(one.target).length) }
    const response = await send(request)
    if (response === undefined || response.status < 400 || response.status >= 500) return []
    sent.push(request)
    const after = await send(get)
    const change = after && difference(second, after)
    if (change === undefined) continue
    const { place } = change
    return [
      {
        expected: `${place} ${change.first}, as before a request that was rejected with ${response.status}`,
        got: `${place} ${change.second}`,
        kind: `${other.operationId} ${place.replace(/\/\d+/g, '/*')}`,
        exchange: { request, response },
        earlier: [get],
      },
    ]
  }
  return []
}

const pathOf = (target: string): string => target.replace(/\?.*$/s, '')
