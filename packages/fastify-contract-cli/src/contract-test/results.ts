import type { Contract } from 'fastify-contract/contract'
import type { Document } from '../document/openapi-document.ts'
import type { Source } from './exchange.ts'
import type { ValueHook } from './values/value-options.ts'

/** An operation as settings and reports name it. */
export type OperationName = { operationId: string; method: string; path: string }

/** Checks that are turned off: by operationId, or `*` for all operations, the reason by the name of the check. */
export type ChecksOff = Record<string, Record<string, string>>

/** The seed of a run without one. */
export const defaultSeed = 1

/** How a run is bounded, and what it sends. */
export type RunOptions = {
  /** The path of the OpenAPI document, the document, or a generated contract; default: the contract of the application. */
  document?: string | Document | Contract | undefined
  /** The same seed and document give the same requests, apart from idempotency keys; default: 1. */
  seed?: number | undefined
  /** The maximum number of requests, without those that shrink failures; default: 1,000, or 20 for each operation. */
  requests?: number | undefined
  /** The maximum number of seconds of the whole run; default: 60. */
  seconds?: number | undefined
  /** The operationIds that are tested, or `METHOD /path`; default: all. */
  operations?: string[] | undefined
  /** The checks that are turned off, beside those that the document turns off with `x-contract-test`. */
  off?: ChecksOff | undefined
  /** Called before the first request of each operation, such as to add the data that it needs. */
  before?: ((operation: OperationName) => unknown) | undefined
  /** Returns a value for the parameter or property of a name; undefined if one is to be generated. */
  values?: ValueHook | undefined
  /** The run ends after this number of failures; default: 20. */
  maxFailures?: number | undefined
  /** The longest time in milliseconds for which the event loop of a server in this process may be blocked; default: 1,000. */
  maxGap?: number | undefined
  /** Called after each request, and at the end of the run. */
  onProgress?: ((progress: TestProgress) => void) | undefined
  /** Ends the run. */
  signal?: AbortSignal | undefined
}

/** How far a run is. */
export type TestProgress = {
  operations: number
  /** The number of operations that got a request. */
  tested: number
  requests: number
  /** The bound of `requests`. */
  maxRequests: number
  failures: number
  seconds: number
  /** The bound of `seconds`. */
  maxSeconds: number
}

/** What stands for a credential in a result. */
export const credentialsPlaceholder = 'CREDENTIALS'

/** A request as a report shows it: the parts of a curl command. Credentials are placeholders. */
export type ShownRequest = {
  method: string
  /** The path with the query, without the origin. */
  target: string
  headers: [name: string, value: string][]
  body: Uint8Array | undefined
}

/** A response as a report shows it. */
export type ShownResponse = {
  status: number
  headers: Record<string, string | string[]>
  body: Uint8Array
  milliseconds: number
}

/** A failure of a check. There is at most one for each operation, check and kind. */
export type TestFailure = {
  check: string
  operation: OperationName
  /** What tells failures of the same check and operation apart, such as the status; part of no sentence. */
  kind: string
  expected: string
  got: string
  /** Why the request is invalid; undefined for a valid one. */
  violation: string | undefined
  source: Source
  /** The smallest request found that shows the failure. */
  request: ShownRequest
  /** Undefined if the server sent no response. */
  response: ShownResponse | undefined
  /** The requests that a test of a sequence sent before, in order. */
  earlier: ShownRequest[]
  /** The number of later requests with the same failure. */
  repeats: number
  seed: number
  /** The requests and seconds of the run until the failure was recorded. */
  after: { requests: number; seconds: number }
}

/** What a run did with an operation. */
export type OperationResult = OperationName & {
  requests: number
  failures: TestFailure[]
  /** The checks that were turned off. */
  off: { check: string; reason: string }[]
  /** Why the operation got no valid request, or no request at all; undefined if it got one. */
  untested: string | undefined
}

/** Why an operation of this engine whose handler responds with 501 is not tested. */
export const unwritten = 'it is not written yet: it responds with 501'

/**
 * Returns whether a run without failures tells nothing, since no operation that is written accepted a request. A service
 * whose operations are all not written yet is no error.
 */
export function testedNothing({ failures, operations }: ContractTestResult): boolean {
  const written = operations.filter(({ untested }) => untested !== unwritten)
  return failures.length === 0 && written.length > 0 && written.every(({ untested }) => untested !== undefined)
}

/** How often a check looked at a response. */
export type CheckResult = { check: string; summary: string; looked: number; failures: number }

/** Why a run ended: it was complete, a bound was reached, it was aborted, or the server went away. */
export type RunEnd = 'complete' | 'requests' | 'seconds' | 'failures' | 'aborted' | 'unreachable'

/** The result of a run. */
export type ContractTestResult = {
  title: string
  version: string
  /** What was tested, such as the URL. */
  target: string
  seed: number
  requests: number
  /** The number of requests that shrank failures. */
  shrinkRequests: number
  seconds: number
  end: RunEnd
  operations: OperationResult[]
  checks: CheckResult[]
  failures: TestFailure[]
  /** The longest time in milliseconds for which the event loop was blocked; undefined for a server elsewhere. */
  longestGap: number | undefined
}
