import type { ResponseCheck } from './check.ts'

export const rejectsInvalid: ResponseCheck = {
  name: 'rejects-invalid',
  summary: 'A request that breaks the document gets a status of 4xx.',
  find({ request: { violation }, response: { status } }, { isOwn }) {
    // Failures of the server, and credentials, have checks of their own.
    if (violation === undefined || violation.part === 'credentials' || status >= 400 || (violation.isStrict && !isOwn))
      return undefined
    const { part, place, reason } = violation
    const what = [part, place, reason].filter((text) => text !== '').join(' ')
    return {
      expected: `a status of 4xx, since the request is invalid: ${what}`,
      got: `status ${status}`,
      kind: `${part} ${place}`,
    }
  },
}
