import type { PreconditionRules, ValidatorName } from 'fastify-contract/contract'
import { targetOf } from './json-pointer.ts'
import type { Document, Endpoint, Response } from './openapi-document.ts'
import type { Node } from './walk-document.ts'

/** The extension of a read whose entity tag the service makes, and its only value. */
export const digestExtension = 'x-etag'
export const digestOfBody = 'body'

const reads = ['GET', 'HEAD']

/** These methods do not change a resource, and RFC 9110 section 13.2.1 ignores preconditions of the first two. */
const others = ['OPTIONS', 'TRACE', 'QUERY']

/**
 * Returns how an operation evaluates preconditions; undefined if it evaluates none. A read does if a 2xx declares ETag or
 * Last-Modified, and 304 or 412 is listed. A write does if it lists 412 and declares one of these headers in a 2xx or the
 * 412, or a header parameter with a precondition. A range of statuses or `default` does not count: it may mean other errors.
 */
export function preconditionsOf(document: Document, endpoint: Endpoint): PreconditionRules | undefined {
  const { method, responses } = endpoint
  const of = reads.includes(method) ? 'read' : 'write'
  const statuses = ([304, 412] as const).filter(
    (status) => responses[status] !== undefined && (of === 'read' || status === 412),
  )
  if (statuses.length === 0 || others.includes(method)) return undefined
  const sent = Object.keys(responses).filter((key) => key.startsWith('2'))
  const declares = (name: string) =>
    [...sent, ...(of === 'write' ? ['412'] : [])].some((key) => hasHeader(responses[key], name))
  const takes = (name: string) =>
    of === 'write' && endpoint.parameters.some((one) => one.in === 'header' && one.name.toLowerCase() === name)
  const validators: ValidatorName[] = [
    ...(declares('etag') || takes('if-match') ? ['etag' as const] : []),
    ...(declares('last-modified') || takes('if-unmodified-since') ? ['lastModified' as const] : []),
  ]
  if (validators.length === 0 && !takes('if-none-match')) return undefined
  return {
    of,
    validators,
    statuses,
    ...(of === 'write' && responses[428] !== undefined && { isRequired: true }),
    ...(of === 'read' && digestOf(document, endpoint) === digestOfBody && { isDigest: true }),
    ...(hasHeader(responses[412], 'etag') && { tellsTag: true }),
  }
}

/** Returns the value of `x-etag` of an operation. */
export const digestOf = (document: Document, { pointer }: Endpoint): unknown =>
  (targetOf(document, pointer) as Node)[digestExtension]

const hasHeader = (response: Response | undefined, name: string): boolean =>
  Object.keys(response?.headers ?? {}).some((each) => each.toLowerCase() === name)
