import { setTimeout as wait } from 'node:timers/promises'
import type { TargetFailure } from '../exchange.ts'
import type { FoundBySending, Probe } from './check.ts'

/** Milliseconds before the next request: a server may notice the closed connection only after some of them. */
const pauses = [0, 50]

/** After these errors nothing was sent, so they tell nothing about a request that was cut off. */
const notSent: (string | undefined)[] = ['unreachable', 'tls', 'unsendable']

export const survivesCutRequest: Probe = {
  name: 'survives-cut-request',
  summary: 'The server still responds after a request whose connection closed in the middle of the body.',
  async probe({ request }, { attempt, sendCut }) {
    const { body } = request
    if (sendCut === undefined || body === undefined || body.length < 2) return []
    try {
      await sendCut(request, Math.floor(body.length / 2))
    } catch (error) {
      const { kind } = error as Partial<TargetFailure>
      if (kind === undefined) throw error
      // If the server went away before, the next request waits for it.
      if (notSent.includes(kind)) return []
    }
    for (const pause of pauses) {
      await wait(pause)
      const failure = await attempt(request)
      if (failure === undefined) continue
      const { kind, message } = failure
      const expected = 'a response to the request after one that was cut off'
      const exchange: FoundBySending['exchange'] = { request, response: undefined }
      return [{ expected, got: message, kind, exchange, earlier: [request] }]
    }
    return []
  },
}
