import type { ResponseCheck } from './check.ts'

/** Statuses that say that the request itself is wrong. Others, such as 404 and 409, may follow from the state. */
const ofInvalid = [400, 401, 405, 406, 411, 413, 414, 415, 417, 422, 431]

export const acceptsValid: ResponseCheck = {
  name: 'accepts-valid',
  summary:
    'A request that follows the document is not rejected as invalid. If the document lists the rejecting status, only ' +
    'examples count, and bounds once another bound was accepted.',
  find({ request: { operation, method, violation, source }, response: { status } }, { hasAccepted }) {
    if (violation !== undefined || method !== operation.method || !ofInvalid.includes(status)) return undefined
    const isListed = Object.hasOwn(operation.responses, status) || Object.hasOwn(operation.responses, '4XX')
    // A handler may reject what no schema can describe, such as an end before its beginning.
    const isCertain = source === 'example' || (source === 'boundary' && hasAccepted(operation, source))
    if (isListed && (!isCertain || status === 401)) return undefined
    return {
      expected: 'a status that does not call a valid request invalid',
      got: `status ${status}`,
      kind: String(status),
    }
  },
}
