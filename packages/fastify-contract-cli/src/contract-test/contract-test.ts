import type { Contract } from 'fastify-contract/contract'
import { addedPrefix } from 'fastify-contract/contract'
import { type Document, endpoints } from '../document/openapi-document.ts'
import { applicationCredentials } from './credentials/application-credentials.ts'
import { environmentCredentials } from './credentials/environment-credentials.ts'
import { requestCredentials } from './credentials/request-credentials.ts'
import type { GivenCredentials } from './credentials/scheme-credentials.ts'
import { secretsOf } from './credentials/secrets.ts'
import type { Target } from './exchange.ts'
import { maskedResult } from './reports/masked-result.ts'
import { countOf, failureLines, untestedLines } from './reports/terminal-report.ts'
import { type ContractTestResult, type RunOptions, testedNothing } from './results.ts'
import { testTarget } from './target-test.ts'
import { type FastifyApp, injectTarget } from './targets/inject-target.ts'
import { urlTarget } from './targets/url-target.ts'
import { testedDocument } from './tested-document.ts'

export type { GivenCredentials, SchemeCredentials } from './credentials/scheme-credentials.ts'
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
  /** The paths of the overlays of the document, if that is a path. */
  overlays?: string[] | undefined
  /**
   * Credentials by the name of their security scheme, instead of those that environment variables have
   * (`environmentCredentials`), and of those that the verifiers of an application of the engine accept during the test.
   */
  credentials?: GivenCredentials | undefined
  /** What precedes each path in an application: the prefix of the plugin that serves the operations; default: nothing. */
  prefix?: string | undefined
  /**
   * The prefix of the document in a server of several documents, such as `/v1`: it precedes each path, unless all of them
   * begin with it already. The path of a URL precedes it, and replaces nothing.
   */
  below?: string | undefined
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
 * options, if the server cannot be reached, and if no operation accepts a request. The caller closes the application.
 */
export async function contractTest(server: ServerUnderTest, options: ContractTestOptions): Promise<ContractTestResult> {
  const result = await runContractTest(server, options)
  if (testedNothing(result)) throw new Error(['nothing was tested', ...untestedLines(result.operations)].join('\n'))
  if (result.failures.length > 0) throw new ContractTestError(messageOf(result, server), result)
  return result
}

/** Tests a server like `contractTest`, but resolves with the result also if checks fail. */
export async function runContractTest(
  server: ServerUnderTest,
  { document: givenDocument, overlays, credentials, prefix, below, ...options }: ContractTestOptions,
): Promise<ContractTestResult> {
  const tested = await testedDocument(givenDocument, overlays)
  const { document } = tested
  const isInProcess = !('url' in server)
  const paths = endpoints(document).flatMap(({ routes }) => routes)
  const added = below === undefined ? undefined : addedPrefix(paths, below)
  const target: Target = isInProcess
    ? injectTarget(server, { listen: true, prefix: prefix ?? added })
    : urlTarget(server.url, { prefix: added })
  // Only the generator of this engine makes contracts, whose service keeps more than other servers promise.
  const isOwn = typeof givenDocument === 'object' && 'routes' in givenDocument
  const given = environmentCredentials(document, process.env)
  const own = isInProcess ? await applicationCredentials(document, server) : undefined
  try {
    const all = { ...given, ...own?.schemes, ...credentials }
    const parts = { target, credentials: requestCredentials(document, all, options.seed), isOwn, isInProcess }
    const result = await testTarget(tested, parts, options)
    return maskedResult(result, secretsOf(all))
  } finally {
    own?.withdraw()
    await target.close()
  }
}

/** The server in a command for an application that listens nowhere. */
const localServer = 'http://localhost:3000'

/** Returns the failures as a text. */
function messageOf({ failures }: ContractTestResult, server: ServerUnderTest): string {
  const context = {
    server: 'url' in server ? new URL(server.url).origin : localServer,
    repeat: ({ operationId }: { operationId: string }) => `operations: [${JSON.stringify(operationId)}]`,
    placeOf: () => undefined,
  }
  const texts = failures.map((failure) => failureLines(failure, context).join('\n'))
  return [`${countOf(failures.length)} of the contract test`, ...texts].join('\n\n')
}
