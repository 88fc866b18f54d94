import { responseKey } from 'fastify-contract/contract'
import type { ResponseCheck } from './check.ts'

/** Statuses that a document may announce: what is not supported, a limit, a server behind this one. */
const announced = [501, 502, 503, 504]

export const noServerError: ResponseCheck = {
  name: 'no-server-error',
  summary: 'No response has a status of 5xx, except 501 to 504 where the document lists them.',
  find({ request, response: { status } }, { isOwn, hasAccepted }) {
    if (status < 500) return undefined
    // An operation of this engine that is not written yet responds with 501.
    if (isOwn && status === 501 && !hasAccepted(request.operation)) return undefined
    const key = responseKey(request.operation.responses, status)
    if (announced.includes(status) && key !== undefined && key !== 'default') return undefined
    return { expected: 'a status below 500', got: `status ${status}`, kind: String(status) }
  },
}
