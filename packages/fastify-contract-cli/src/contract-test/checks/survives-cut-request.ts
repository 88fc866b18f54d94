import type { Probe } from './check.ts'

export const survivesCutRequest: Probe = {
  name: 'survives-cut-request',
  summary: 'The server still responds after a request whose connection closed in the middle of the body.',
  async probe({ request }, { target, send }) {
    const { body } = request
    if (target.sendCut === undefined || body === undefined || body.length < 2) return []
    await target.sendCut(request, Math.floor(body.length / 2))
    // Without a response, the run reports a failure of this check.
    await send(request)
    return []
  },
}
