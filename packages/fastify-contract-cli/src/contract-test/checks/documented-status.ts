import { responseKey } from 'fastify-contract/contract'
import type { ResponseCheck } from './check.ts'

/**
 * Statuses that servers send before the operation is called, and that OpenAPI does not expect to be listed (section
 * 4.8.16): of authentication, routing, content negotiation, framing, and limits.
 */
const ofHttp = [401, 403, 405, 406, 408, 413, 414, 415, 417, 421, 426, 429, 431]

export const documentedStatus: ResponseCheck = {
  name: 'documented-status',
  summary: 'The document lists the status of each response, except those with which a server rejects a request itself.',
  find({ request: { operation, method, violation }, response: { status } }) {
    const { responses } = operation
    const names = Object.keys(responses)
    // Another method, or HEAD of an operation without it, is not what the document describes.
    if (status >= 500 || names.length === 0 || method !== operation.method) return undefined
    if (responseKey(responses, status) !== undefined) return undefined
    if (ofHttp.includes(status) || (violation !== undefined && status >= 400)) return undefined
    return {
      expected: `one of the documented statuses ${names.join(', ')}`,
      got: `status ${status}`,
      kind: String(status),
    }
  },
}
