import { resolve } from '../document/json-pointer.ts'
import { type Document, type Endpoint, endpoints } from '../document/openapi-document.ts'
import { isNode } from '../document/walk-document.ts'
import { checks } from './checks/checks.ts'
import type { ChecksOff } from './results.ts'

/** Returns the reason why a check is turned off for an operation; undefined if it is not. */
export type OffReason = (operationId: string, check: string) => string | undefined

/** The name of all operations in settings. */
const all = '*'

/**
 * Returns which checks are turned off: by `x-contract-test: { off: { CHECK: REASON } }` in an operation or at the root of
 * a document, and by settings. Throws an Error for an unknown check or operation, and for a missing reason.
 */
export function checksOff(document: Document, settings: ChecksOff = {}): OffReason {
  const reasons = new Map<string, string>()
  const operations = endpoints(document)
  addMarks(all, document, '#')
  for (const { operationId, pointer } of operations) addMarks(operationId, resolve(document, pointer), pointer)
  for (const [operationId, off] of Object.entries(settings)) {
    if (operationId !== all && !operations.some((one) => one.operationId === operationId))
      throw new Error(`off: the document has no operation ${operationId}; use ${listed(operations)}, or * for all`)
    add(operationId, off, `off of ${operationId}`)
  }
  return (operationId, check) => reasons.get(`${operationId} ${check}`) ?? reasons.get(`${all} ${check}`)

  function addMarks(operationId: string, holder: unknown, place: string): void {
    const { 'x-contract-test': mark = {} } = Object(holder) as { 'x-contract-test'?: unknown }
    const at = `${place}/x-contract-test`
    const { off = {}, ...others } = Object(mark) as { off?: unknown }
    const [unknown] = isNode(mark) ? Object.keys(others) : ['value']
    if (unknown !== undefined) throw new Error(`${at}: unknown ${unknown}; expected { off: { CHECK: REASON } }`)
    add(operationId, off, `${at}/off`)
  }

  function add(operationId: string, off: unknown, place: string): void {
    if (!isNode(off)) throw new Error(`${place}: expected an object with a reason for each check`)
    for (const [check, reason] of Object.entries(off)) {
      if (!checks.some(({ name }) => name === check))
        throw new Error(
          `${place}: unknown check ${JSON.stringify(check)}; use ${checks.map(({ name }) => name).join(', ')}`,
        )
      if (typeof reason !== 'string' || reason.trim() === '')
        throw new Error(`${place}: ${check} has no reason; write a text that says why it is turned off`)
      reasons.set(`${operationId} ${check}`, reason)
    }
  }
}

/** The number of names that a message lists. */
const maxListed = 20

const listed = (operations: Endpoint[]): string =>
  operations
    .slice(0, maxListed)
    .map(({ operationId }) => operationId)
    .join(', ')
