import type { Endpoint } from '../document/openapi-document.ts'
import { checksOff } from './checks-off.ts'
import type { Credentials, Target } from './exchange.ts'
import { RecordedResults } from './recorded-results.ts'
import { type RequestMaker, requestMaker } from './requests/requests-of.ts'
import { type ContractTestResult, defaultSeed, type RunEnd, type RunOptions, unwritten } from './results.ts'
import { RunPlan } from './run-plan.ts'
import { type RunBounds, RunEnded, TestRun } from './test-run.ts'
import { selectedOperations, type TestedDocument } from './tested-document.ts'

/** The server that is tested. */
export type TestedServer = {
  target: Target
  credentials: Credentials
  /** Whether it is one of this engine. */
  isOwn: boolean
  isInProcess: boolean
}

/** The number of requests for each operation of a large document. */
const requestsOfOperation = 20

/**
 * Tests a server. Resolves with the result, whether or not there are failures. Throws an Error for invalid options, and if
 * the server cannot be reached.
 */
export async function testTarget(
  tested: TestedDocument,
  { isOwn, isInProcess, target, credentials }: TestedServer,
  options: Omit<RunOptions, 'document'>,
): Promise<ContractTestResult> {
  const { document, contract } = tested
  const reason = checksOff(document, options.off)
  const operations = selectedOperations(document, options.operations)
  const results = new RecordedResults(operations, reason)
  const maker = requestMaker(document, { isOwn, ...(options.values && { values: options.values }) })
  const bounds = boundsOf(options, operations.length)
  const run = new TestRun({
    document,
    contract: { ...contract, isOwn },
    target,
    credentials,
    results,
    bounds,
    isInProcess,
    onProgress: options.onProgress,
    signal: options.signal,
  })
  const end = await endOf(() => new RunPlan(run, { operations, maker, before: options.before }).execute())
  run.reportProgress()
  for (const operation of operations) results.of(operation).untested = untestedReason(operation, run, maker, end)
  const { title, version } = document.info
  return {
    title,
    version,
    target: target.name,
    seed: bounds.seed,
    requests: run.requests,
    shrinkRequests: run.shrinkRequests,
    seconds: run.seconds,
    end,
    operations: [...results.operations, ...skippedOperations(tested, options)],
    checks: results.checks,
    failures: results.failures,
    longestGap: isInProcess ? run.longestGap : undefined,
  }
}

/** Returns the bounds of a run. Throws an Error for one that is no positive number. */
function boundsOf(options: Omit<RunOptions, 'document'>, operations: number): RunBounds {
  const { seed = defaultSeed, seconds = 60, maxFailures = 20, maxGap = 1_000 } = options
  const { requests = Math.max(1_000, requestsOfOperation * operations) } = options
  if (!Number.isSafeInteger(seed)) throw new Error(`seed is ${seed}; expected an integer`)
  for (const [name, value] of Object.entries({ requests, seconds, maxFailures, maxGap }))
    if (!(value > 0)) throw new Error(`${name} is ${value}; expected a positive number`)
  return { seed, requests, seconds, failures: maxFailures, gap: maxGap }
}

/** Runs a plan until it is complete or ends. */
async function endOf(execute: () => Promise<void>): Promise<RunEnd> {
  try {
    await execute()
    return 'complete'
  } catch (error) {
    if (error instanceof RunEnded) return error.end
    throw error
  }
}

/** Returns why an operation got no valid request that it accepted; undefined if it got one. */
function untestedReason(operation: Endpoint, run: TestRun, maker: RequestMaker, end: RunEnd): string | undefined {
  const { results, contract, credentials } = run.parts
  const statuses = results.statusesOf(operation)
  if (statuses.some((status) => status < 400)) return undefined
  if (results.of(operation).requests > 0) return rejectedReason(statuses, contract.isOwn)
  const { unmade, random, examples } = maker.requestsOf(operation)
  if (random === undefined && examples.length === 0)
    return unmade.map(({ part, reason }) => `no value for ${part}: ${reason}`).join('; ')
  return credentials.missing?.(operation.security) ?? `the run ended before its first request: ${end}`
}

/** The status of an operation of this engine that is not written yet. */
const notImplemented = 501

function rejectedReason(statuses: number[], isOwn: boolean): string {
  if (isOwn && statuses.length === 1 && statuses[0] === notImplemented) return unwritten
  if (statuses.length === 0) return 'no valid request got a response'
  return `no valid request got a status below 400, only ${statuses.join(', ')}`
}

/** Returns the operations of a document that cannot be tested at all. */
function skippedOperations(
  { skipped }: TestedDocument,
  { operations }: Pick<RunOptions, 'operations'>,
): ContractTestResult['operations'] {
  const found: ContractTestResult['operations'] = []
  for (const { operation, reasons } of operations === undefined ? skipped : []) {
    const [method = '', path = ''] = operation.split(/ (.*)/s)
    const untested = reasons.join('; ')
    found.push({ operationId: operation, method, path, requests: 0, failures: [], off: [], untested })
  }
  return found
}
