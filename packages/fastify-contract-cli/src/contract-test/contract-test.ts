import type { ContractTestResult } from './results.ts'

export type {
  CheckResult,
  ChecksOff,
  ContractTestResult,
  OperationName,
  OperationResult,
  RunEnd,
  RunOptions,
  ShownRequest,
  ShownResponse,
  TestFailure,
  TestProgress,
} from './results.ts'

/** The failures of a contract test. Its message lists them with their requests as curl commands. */
export class ContractTestError extends Error {
  override readonly name = 'ContractTestError'
  readonly result: ContractTestResult

  constructor(message: string, result: ContractTestResult) {
    super(message)
    this.result = result
  }
}
