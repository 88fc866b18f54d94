import { ContractError } from '../contract/errors.ts'
import type { PreconditionRules, ValidatorName } from '../contract/routes.ts'
import { type EntityTag, isEntityTag } from './entity-tags.ts'
import { type CurrentState, failedPrecondition } from './evaluate-preconditions.ts'
import type { PreconditionFields } from './precondition-fields.ts'

/** The validators of a resource (RFC 9110 section 8.8). */
export type Validators = { etag: EntityTag; lastModified: Date }

/**
 * What `preconditions.check` returns. Each 2xx of the handler has it as `checked`, so a handler that forgets the check
 * does not compile. The property is no unique symbol, so that handlers that are typed by another copy of this package fit.
 */
export interface Checked {
  readonly 'the result of preconditions.check': true
}

/** The preconditions of a write (RFC 9110 section 13), which its handler checks. */
export interface Preconditions<Name extends ValidatorName = ValidatorName> {
  /**
   * Returns the member `checked` of the response. Throws a ContractError with status 412 if a precondition of the request
   * fails. Call it where no other request can change the resource before this one does, such as in the transaction of the
   * write, after it has locked the row.
   *
   * @param current The validators of the resource as it is now; undefined if it does not exist.
   */
  check(current: Pick<Validators, Name> | undefined): Checked
}

/** The preconditions of one request, and what `check` returned; undefined if it was not called. */
export type PreconditionCheck = Preconditions & { readonly result: Checked | undefined }

/** Returns the preconditions of a write for its handler. */
export function preconditionCheck(rules: PreconditionRules, fields: PreconditionFields): PreconditionCheck {
  let result: Checked | undefined
  return {
    get result() {
      return result
    },
    check(current) {
      const state = current === undefined ? undefined : currentState(current)
      if (failedPrecondition('write', fields, state) !== undefined) throw preconditionFailed(rules, state)
      result ??= Object.freeze({ 'the result of preconditions.check': true } as const)
      return result
    },
  }
}

/** Validates what a handler returned without types, or computed wrongly: an unquoted tag would never match. */
function currentState({ etag, lastModified }: Partial<Validators>): CurrentState {
  if (etag !== undefined && !isEntityTag(etag)) throw new TypeError(`etag must be ${tagForm}; got ${String(etag)}`)
  const time = lastModified?.getTime()
  if (Number.isNaN(time)) throw new TypeError('lastModified must be a valid date')
  return { etag, lastModified: time }
}

/** How messages describe an entity tag. */
export const tagForm = 'an entity tag in double quotes, such as "v1" or W/"v1"'

/** Returns the error of a failed precondition, with the current tag if the operation declares it for a 412. */
export const preconditionFailed = ({ tellsTag }: PreconditionRules, current: CurrentState | undefined): ContractError =>
  new ContractError(
    'preconditionFailed',
    'the resource is not in the state that the request requires; get it again',
    tellsTag && current?.etag !== undefined ? { etag: current.etag } : {},
  )
