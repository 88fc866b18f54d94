import { isRange, kindOf } from 'fastify-contract/contract'
import { join } from '../document/json-pointer.ts'
import type { Document, Endpoint } from '../document/openapi-document.ts'
import { digestExtension, digestOf, digestOfBody, preconditionsOf } from '../document/preconditions.ts'
import type { Report } from '../reports/reports.ts'

/** Rejects `x-etag` where the service cannot make an entity tag of the body, or has no use for it. */
export function checkDigest(endpoint: Endpoint, report: Report, document: Document): void {
  const digest = digestOf(document, endpoint)
  if (digest === undefined) return
  const problem = problemOf(endpoint, digest, document)
  if (problem !== undefined) report('invalid-digest', join(endpoint.pointer, digestExtension), problem)
}

function problemOf(endpoint: Endpoint, digest: unknown, document: Document): string | undefined {
  if (digest !== digestOfBody) return `must be ${digestOfBody}; correct it`
  const rules = preconditionsOf(document, endpoint)
  if (rules?.of !== 'read' || !rules.validators.includes('etag') || !rules.statuses.includes(304))
    return 'needs a GET or HEAD with the header ETag in a response of 2xx, and a response 304; add them'
  for (const [status, { content = {} }] of Object.entries(endpoint.responses)) {
    const unknown = Object.keys(content).find((type) => isRange(type) || ['lines', 'events'].includes(kindOf(type)))
    if (status.startsWith('2') && unknown !== undefined)
      return `a body of ${unknown} is sent before all of it is known; let the handler return the ETag`
  }
  return undefined
}
