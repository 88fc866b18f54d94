import type { IncomingMessage } from 'node:http'
import { ContractError } from '../contract/errors.ts'
import type { PreconditionRules } from '../contract/routes.ts'
import { type PreconditionCheck, preconditionCheck } from './precondition-check.ts'
import { hasPrecondition, type PreconditionFields, readPreconditions } from './precondition-fields.ts'

/** The preconditions of a request, and those that the handler of a write gets. */
export type RequestPreconditions = { fields: PreconditionFields; check: PreconditionCheck | undefined }

const key = Symbol('preconditions')

type Request = IncomingMessage & { [key]?: RequestPreconditions }

/** Returns the preconditions of a request to an operation that evaluates them. */
export const preconditionsOf = (request: IncomingMessage): RequestPreconditions =>
  (request as Request)[key] as RequestPreconditions

/**
 * Returns the guard of an operation that evaluates preconditions. It reads those of a request, and rejects invalid ones
 * with 400, and a write without one with 428 if the operation requires one.
 */
export function preconditionReader(rules: PreconditionRules) {
  return function readFields({ raw }: { raw: IncomingMessage }): ContractError | undefined {
    const fields = readPreconditions(raw, rules)
    if (rules.isRequired && !hasPrecondition(fields))
      return new ContractError('preconditionRequired', `the request must have ${requiredFields(rules)}`)
    ;(raw as Request)[key] = { fields, check: rules.of === 'write' ? preconditionCheck(rules, fields) : undefined }
    return undefined
  }
}

/** Returns the header fields of which a write must have one. */
const requiredFields = ({ validators }: PreconditionRules): string =>
  ['If-Match', ...(validators.includes('lastModified') ? ['If-Unmodified-Since'] : []), 'If-None-Match'].join(' or ')
