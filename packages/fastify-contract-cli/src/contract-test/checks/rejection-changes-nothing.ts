import type { Endpoint } from '../../document/openapi-document.ts'
import type { Exchange, TestRequest, TestResponse } from '../exchange.ts'
import type { FoundBySending, Probe, Tools } from './check.ts'
import { type Difference, difference } from './compare-responses.ts'

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
async function probeOf(get: TestRequest, other: Endpoint, { send, invalid }: Tools): Promise<FoundBySending[]> {
  const path = pathOf(get.target)
  const requests = invalid(other)
    .slice(0, maxRejected)
    .map((one) => ({ ...one, target: path + one.target.slice(pathOf(one.target).length) }))
  const changed = await changeByRejected(get, requests, send)
  if (changed === undefined) return []
  const { place } = changed.change
  const kind = `${other.operationId} ${place.replace(/\/\d+/g, '/*')}`
  return [{ ...changeTexts(changed), kind, exchange: changed.exchange, earlier: [get] }]
}

/** What a GET shows after a request that was rejected. */
type ChangeByRejected = { change: Difference; exchange: Exchange }

/**
 * Sends requests with a GET after each. Returns the first one that was rejected with 4xx, but changed what the GET shows;
 * undefined if there is none, or if the GET shows something else each time.
 */
export async function changeByRejected(
  get: TestRequest,
  requests: TestRequest[],
  send: (request: TestRequest) => Promise<TestResponse | undefined>,
): Promise<ChangeByRejected | undefined> {
  const first = await send(get)
  let before = await send(get)
  if (first === undefined || before === undefined || difference(first, before) !== undefined) return undefined
  for (const request of requests) {
    const response = await send(request)
    const after = response && (await send(get))
    if (response === undefined || after === undefined) return undefined
    const change = difference(before, after)
    if (change !== undefined && response.status >= 400 && response.status < 500)
      return { change, exchange: { request, response } }
    // The server accepts a request that is invalid, so what it changed is no failure of this check.
    before = after
  }
  return undefined
}

/** Returns the texts of a report. */
export function changeTexts({ change, exchange }: ChangeByRejected): { expected: string; got: string } {
  const { place, first, second } = change
  const expected = `${place} ${first}, as before a request that was rejected with ${exchange.response.status}`
  return { expected, got: `${place} ${second}` }
}

const pathOf = (target: string): string => target.replace(/\?.*$/s, '')
