import type { Probe } from './check.ts'

export const survivesCutRequest: Probe = {
  name: 'survives-cut-request',
  summary: 'The server still responds after a request whose connection closed in the middle of the body.',
  async probe({ request }, { send, sendCut }) {
    const { body } = request
    if (sendCut === undefined || body === undefined || body.length < 2) return []
    await sendCut(request, Math.floor(body.length / 2))
    // Without a response, the run reports a failure of this check.
    await send(request)
    return []
  },
}
