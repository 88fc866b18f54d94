import type { Endpoint } from '../document/openapi-document.ts'
import type { Found, NamedCheck } from './checks/check.ts'
import { checks } from './checks/checks.ts'
import type { OffReason } from './checks-off.ts'
import type { CheckResult, OperationResult, TestFailure } from './results.ts'

/** The maximum number of failures of one check in one operation; others count as repetitions of the last. */
const maxOfCheck = 3

/** Counts what a run does, and keeps its failures. */
export class RecordedResults {
  readonly failures: TestFailure[] = []
  readonly #operations = new Map<string, OperationResult>()
  readonly #checks = new Map<string, CheckResult>()
  readonly #known = new Map<string, TestFailure>()
  readonly #accepted = new Set<string>()
  readonly #statuses = new Map<string, Set<number>>()
  readonly #reason: OffReason

  constructor(operations: Endpoint[], reason: OffReason) {
    this.#reason = reason
    for (const { operationId, method, path } of operations) {
      const off: OperationResult['off'] = []
      for (const { name } of checks) {
        const why = reason(operationId, name)
        if (why !== undefined) off.push({ check: name, reason: why })
      }
      this.#operations.set(operationId, {
        operationId,
        method,
        path,
        requests: 0,
        failures: [],
        off,
        untested: undefined,
      })
    }
    for (const { name, summary } of checks) this.#checks.set(name, { check: name, summary, looked: 0, failures: 0 })
  }

  get operations(): OperationResult[] {
    return [...this.#operations.values()]
  }

  get checks(): CheckResult[] {
    return [...this.#checks.values()]
  }

  get tested(): number {
    return this.operations.filter(({ requests }) => requests > 0).length
  }

  of({ operationId }: Pick<Endpoint, 'operationId'>): OperationResult {
    return this.#operations.get(operationId) as OperationResult
  }

  isOff(operation: Endpoint, { name }: Pick<NamedCheck, 'name'>): boolean {
    return this.#reason(operation.operationId, name) !== undefined
  }

  countLook({ name }: NamedCheck): void {
    ;(this.#checks.get(name) as CheckResult).looked++
  }

  /** Records the status of the response to a valid request. */
  addStatus({ operationId }: Endpoint, source: string, status: number): void {
    if (status < 300) this.#accepted.add(operationId).add(`${operationId} ${source}`)
    this.#statuses.set(operationId, (this.#statuses.get(operationId) ?? new Set()).add(status))
  }

  /** Returns the statuses of the responses to valid requests. */
  statusesOf({ operationId }: Endpoint): number[] {
    return [...(this.#statuses.get(operationId) ?? [])].sort((one, other) => one - other)
  }

  hasAccepted({ operationId }: Endpoint, source?: string): boolean {
    return this.#accepted.has(source === undefined ? operationId : `${operationId} ${source}`)
  }

  /** Counts a repetition of a known failure. Returns false for a new one, which the caller then adds. */
  isRepeated(operation: Endpoint, check: string, { kind }: Pick<Found, 'kind'>): boolean {
    const { failures } = this.of(operation)
    const ofCheck = failures.filter((one) => one.check === check)
    const known =
      this.#known.get(keyOf(operation, check, kind)) ?? (ofCheck.length >= maxOfCheck ? ofCheck.at(-1) : undefined)
    if (known === undefined) return false
    known.repeats++
    return true
  }

  add(operation: Endpoint, failure: TestFailure): void {
    this.#known.set(keyOf(operation, failure.check, failure.kind), failure)
    this.of(operation).failures.push(failure)
    this.failures.push(failure)
    ;(this.#checks.get(failure.check) as CheckResult).failures++
  }
}

const keyOf = ({ operationId }: Endpoint, check: string, kind: string): string =>
  JSON.stringify([operationId, check, kind])
