import type { PreconditionRules } from '../contract/routes.ts'
import { type EntityTag, stronglyEqual, type TagList, weaklyEqual } from './entity-tags.ts'
import type { PreconditionFields } from './precondition-fields.ts'

/** What identifies the current state of a resource. The time of its last change is in milliseconds. */
export type CurrentState = { etag?: EntityTag | undefined; lastModified?: number | undefined }

/**
 * Evaluates the preconditions of a request in the order of RFC 9110 section 13.2.2. Returns the status of the first one
 * that fails; undefined if the method is to be performed. Range requests are not supported, so If-Range is ignored.
 *
 * @param current Undefined if the resource does not exist.
 */
export function failedPrecondition(
  of: PreconditionRules['of'],
  { ifMatch, ifUnmodifiedSince, ifNoneMatch, ifModifiedSince }: PreconditionFields,
  current: CurrentState | undefined,
): 304 | 412 | undefined {
  const lastModified = wholeSeconds(current?.lastModified)
  if (ifMatch !== undefined) {
    if (!matches(ifMatch, current, stronglyEqual)) return 412
  } else if (ifUnmodifiedSince !== undefined && lastModified !== undefined && lastModified > ifUnmodifiedSince) {
    return 412
  }
  const failed = of === 'read' ? 304 : 412
  if (ifNoneMatch !== undefined) return matches(ifNoneMatch, current, weaklyEqual) ? failed : undefined
  const isUnmodified = ifModifiedSince !== undefined && lastModified !== undefined && lastModified <= ifModifiedSince
  return of === 'read' && isUnmodified ? 304 : undefined
}

/** An HTTP-date has no fractions of a second. */
const wholeSeconds = (time: number | undefined): number | undefined =>
  time === undefined ? undefined : Math.floor(time / 1_000) * 1_000

function matches(tags: TagList, current: CurrentState | undefined, isEqual: typeof weaklyEqual): boolean {
  if (current === undefined) return false
  if (tags === '*') return true
  const { etag } = current
  return etag !== undefined && tags.some((tag) => isEqual(tag, etag))
}
