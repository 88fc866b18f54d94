import type { FastifyInstance } from 'fastify'
import type { ContractTestResult, RunOptions } from './results.ts'

export type {
  CheckResult,
  ChecksOff,
  ContractTestResult,
  OperationName,
  OperationResult,
  RunEnd,
  ShownRequest,
  ShownResponse,
  TestFailure,
  TestProgress,
} from './results.ts'

/** A server under test: a Fastify application in this process, which need not listen, or the URL of any server. */
export type ServerUnderTest = FastifyInstance | { url: string }

export type ContractTestOptions = RunOptions

/** The failures of a contract test. Its message lists them with their requests as curl commands. */
export class ContractTestError extends Error {
  readonly result: ContractTestResult

  constructor(message: string, result: ContractTestResult) {
    super(message)
    this.name = 'ContractTestError'
    this.result = result
  }
}
