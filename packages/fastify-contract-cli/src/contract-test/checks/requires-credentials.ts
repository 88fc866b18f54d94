import type { TestRequest } from '../exchange.ts'
import type { FoundBySending, Probe } from './check.ts'

export const requiresCredentials: Probe = {
  name: 'requires-credentials',
  summary:
    'Without credentials and with wrong ones a request gets 401, with too narrow ones 403; in any other server, ' +
    'either of them, or 404, which hides what exists.',
  async probe({ request }, { contract, rejected, sendAsIs }) {
    const failures: FoundBySending[] = []
    for (const { request: wrong, status, reason } of rejected(request)) {
      const sent: TestRequest = { ...wrong, violation: { part: 'credentials', place: '', reason } }
      const response = await sendAsIs(sent)
      if (response === undefined || response.status >= 500) continue
      const accepted = contract.isOwn ? [status] : [401, 403, 404]
      if (accepted.includes(response.status)) continue
      failures.push({
        expected: `status ${contract.isOwn ? status : '401 or 403'} for a request ${reason}`,
        got: `status ${response.status}`,
        kind: reason,
        exchange: { request: sent, response },
        earlier: [],
      })
    }
    return failures
  },
}
