import type { Contract } from 'fastify-contract/contract'
import type { Document } from '../document/openapi-document.ts'
import type { Credentials, Target } from './exchange.ts'
import { failureLines } from './reports/terminal-report.ts'
import type { ContractTestResult, RunOptions } from './results.ts'
import { testTarget } from './target-test.ts'
import { type FastifyApp, injectTarget } from './targets/inject-target.ts'
import { urlTarget } from './targets/url-target.ts'
import { testedDocument } from './tested-document.ts'

export type { Credentials } from './exchange.ts'
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

/** A server under test: a Fastify application in this process, which need not listen, or the URL of any server. */
export type ServerUnderTest = FastifyApp | { url: string }

/** The options of a contract test. */
export type ContractTestOptions = Omit<RunOptions, 'document'> & {
  /** The path of the OpenAPI document, the document, or the contract that was generated from it. */
  document: string | Document | Contract
  /** Default: none, so that operations which require credentials are not tested. */
  credentials?: Credentials
}

/** The failures of a contract test. Its message lists them with their requests. */
export class ContractTestError extends Error {
  override readonly name = 'ContractTestError'
  readonly result: ContractTestResult

  constructor(message: string, result: ContractTestResult) {
    super(message)
    this.result = result
  }
}

/**
 * Tests a server by the requests that its document implies, for a test of vitest, node:test or tap. Resolves with the
 * result if each check passes, and rejects with a ContractTestError otherwise. Rejects with another Error for invalid
 * options, and if the server cannot be reached. The caller closes the application.
 */
export async function contractTest(server: ServerUnderTest, options: ContractTestOptions): Promise<ContractTestResult> {
  const result = await runContractTest(server, options)
  if (result.failures.length > 0) throw new ContractTestError(messageOf(result, server), result)
  return result
}

/** Tests a server like `contractTest`, but resolves with the result also if checks fail. */
export async function runContractTest(
  server: ServerUnderTest,
  { document, credentials = noCredentials, ...options }: ContractTestOptions,
): Promise<ContractTestResult> {
  const tested = await testedDocument(document)
  const isInProcess = !('url' in server)
  const target: Target = isInProcess ? injectTarget(server, { listen: true }) : urlTarget(server.url)
  // Only the generator of this engine makes contracts, whose service keeps more than other servers promise.
  const isOwn = typeof document === 'object' && 'routes' in document
  try {
    return await testTarget(tested, { target, credentials, isOwn, isInProcess }, options)
  } finally {
    await target.close()
  }
}

/** The server in a command for an application that listens nowhere. */
const localServer = 'http://localhost:3000'

/** Returns the failures as a text. */
function messageOf({ failures }: ContractTestResult, server: ServerUnderTest): string {
  const context = {
    server: 'url' in server ? server.url.replace(/\/+$/, '') : localServer,
    repeat: ({ operationId }: { operationId: string }) => `operations: [${JSON.stringify(operationId)}]`,
    placeOf: () => undefined,
  }
  const texts = failures.map((failure) => failureLines(failure, context).join('\n'))
  return [`${failures.length} failures of the contract test`, ...texts].join('\n\n')
}

/** Accepts requests of operations that require none. */
const noCredentials: Credentials = {
  accepted: (request) =>
    request.operation.security.every((requirement) => Object.keys(requirement).length > 0) &&
    request.operation.security.length > 0
      ? undefined
      : request,
  rejected: () => [],
}
