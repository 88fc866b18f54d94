import type { TestRequest, TestResponse } from '../exchange.ts'
import { ownKey } from '../requests/own-key.ts'
import type { FoundBySending, Probe } from './check.ts'
import { difference } from './compare-responses.ts'
import { isSuccess } from './documented-response.ts'

export const repeatedKey: Probe = {
  name: 'repeated-key',
  summary:
    'A repeated request with the same Idempotency-Key gets the response of the first one. In a server of this engine, it ' +
    'is marked by Idempotent-Replayed, and a request with the same key and other content gets 422.',
  async probe({ request }, { contract, send }) {
    const key = ownKey(request)
    if (key === undefined) return []
    const keyed: TestRequest = { ...request, key }
    const first = await send(keyed)
    const second = first && (await send(keyed))
    if (first === undefined || second === undefined || !isKept(first) || second.status >= 500) return []
    const failed = (sent: TestRequest, response: typeof first, expected: string, got: string, kind: string) => {
      const failure: FoundBySending = { expected, got, kind, exchange: { request: sent, response }, earlier: [keyed] }
      return [failure]
    }
    const change = difference(first, second)
    if (change !== undefined) {
      const expected = `the response to the first request with the key: ${change.place} ${change.first}`
      return failed(keyed, second, expected, `${change.place} ${change.second}`, change.place.replace(/\/\d+/g, '/*'))
    }
    if (!contract.isOwn) return []
    if (second.headers['idempotent-replayed'] !== 'true')
      return failed(keyed, second, 'the header Idempotent-Replayed: true', 'none', 'mark')
    const other = withOtherContent(keyed)
    const third = other && (await send(other))
    if (other === undefined || third === undefined || third.status === 422) return []
    return failed(other, third, 'status 422 for other content with the same key', `status ${third.status}`, 'content')
  },
}

/** The maximum length of a body in bytes that a server of this engine keeps by default. */
const maxKept = 2 ** 20

/**
 * Returns whether a server must keep a response. An error may not be kept, since a transaction was rolled back or the
 * rejection came before the handler. Neither is a body without a length, which may be a stream, nor a large one.
 */
const isKept = (response: TestResponse): boolean => {
  const { headers, body } = response
  const hasLength = body.length === 0 || headers['content-length'] !== undefined
  return isSuccess(response) && hasLength && body.length <= maxKept
}

/** Returns a request with a space after its body of JSON, which the value of the body does not tell apart. */
function withOtherContent(request: TestRequest): TestRequest | undefined {
  const { body, headers } = request
  if (body === undefined || !/[/+]json\b/.test(headers['content-type'] ?? '')) return undefined
  const violation = { part: 'header' as const, place: '/Idempotency-Key', reason: 'is the key of other content' }
  return { ...request, violation, body: Buffer.concat([body, Buffer.from(' ')]) }
}
