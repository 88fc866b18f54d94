import type { Probe } from './check.ts'
import { difference } from './compare-responses.ts'

export const repeatedGet: Probe = {
  name: 'repeated-get',
  summary:
    'A GET changes nothing, so that the next one gets the same status, media type and JSON. Times and UUIDs are not ' +
    'compared, nor, in any other server, a value that is new in each response.',
  async probe({ request }, { contract, send }) {
    if (request.method !== 'GET') return []
    const responses = [await send(request), await send(request), await send(request)]
    const [first, second, third] = responses
    if (first === undefined || second === undefined || third === undefined) return []
    const change = difference(first, second) ?? difference(second, third)
    if (change === undefined) return []
    // A counter, or a text that is random, differs each time.
    const again = difference(second, third)
    const isAlwaysNew =
      difference(first, second)?.place === again?.place && difference(first, third)?.place === again?.place
    if (isAlwaysNew && !contract.isOwn && change.place !== 'status') return []
    return [
      {
        expected: `the response of the request before: ${change.place} ${change.first}`,
        got: `${change.place} ${change.second}`,
        kind: change.place.replace(/\/\d+/g, '/*'),
        exchange: { request, response: second },
        earlier: [request],
      },
    ]
  },
}
