import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { TestRequest } from '../exchange.ts'
import { TargetError } from './target-error.ts'

/** RFC 9110 section 9.1: a method is a token. */
const token = /^[!#$%&'*+.^_`|~\w-]+$/

/** What node:http writes as one byte each; a space would end the target (RFC 9112 section 3). */
const writableTarget = /^\/[\u0021-\u007e\u0080-\u00ff]*$/

/**
 * Throws a TargetError for a request that HTTP/1.1 cannot carry, before anything is sent: all targets reject the same
 * requests, although a request within the process needs no form.
 */
export function checkSendable({ method, target, headers }: TestRequest): void {
  if (!token.test(method)) throw unsendable('the method is not a token')
  if (target !== '*' && !writableTarget.test(target)) throw unsendable('the target has characters that must be encoded')
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    } catch (error) {
      throw unsendable(`the header ${JSON.stringify(name)} has an invalid name or value`, error)
    }
  }
}

const unsendable = (problem: string, cause?: unknown): TargetError =>
  new TargetError('unsendable', `the request cannot be sent: ${problem}`, cause)

/** Returns the body of a request that is cut off. Throws a RangeError if nothing of it would be missing. */
export function cutBody({ body = new Uint8Array() }: TestRequest, length: number): Uint8Array {
  if (!(length >= 0 && length < body.length))
    throw new RangeError(`a body of ${body.length} bytes cannot be cut off after ${length}`)
  return body.subarray(0, length)
}
