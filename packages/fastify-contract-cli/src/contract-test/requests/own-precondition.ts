import type { Document, Endpoint } from '../../document/openapi-document.ts'
import { preconditionsOf } from '../../document/preconditions.ts'
import type { Source, Violation } from '../exchange.ts'

const tagHeader = 'if-match'

/**
 * Returns whether requests of an operation need a precondition that `If-Match: *` meets: it evaluates entity tags, lists
 * 428, and has no schema of the header that may reject `*`.
 */
export function needsTag(document: Document, operation: Endpoint): boolean {
  const rules = preconditionsOf(document, operation)
  if (rules?.isRequired !== true || !rules.validators.includes('etag')) return false
  const parameter = operation.parameters.find(({ in: place, name }) => isTagHeader(place, name))
  const { enum: values, const: value, pattern, format, minLength = 1 } = (parameter?.schema ?? {}) as TagSchema
  return [values, value, pattern, format].every((each) => each === undefined) && minLength <= 1
}

type TagSchema = { enum?: unknown; const?: unknown; pattern?: string; format?: string; minLength?: number }

const isTagHeader = (place: string, name: string): boolean => place === 'header' && name.toLowerCase() === tagHeader

/**
 * Adds the precondition to the headers of a request. A generated tag is replaced, since no resource has it; an example and
 * a header that must be invalid stay.
 */
export function addPrecondition(headers: Record<string, string>, source: Source, violation?: Violation): void {
  if (violation?.part === 'header' && violation.place.toLowerCase() === tagHeader) return
  if (source !== 'example' || headers[tagHeader] === undefined) headers[tagHeader] = '*'
}
