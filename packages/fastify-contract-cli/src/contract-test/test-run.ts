import { setTimeout as wait } from 'node:timers/promises'
import type { Document } from '../document/openapi-document.ts'
import type { Found, NamedCheck, ResponseContract } from './checks/check.ts'
import { completeResponse, eventLoopGap, responseChecks } from './checks/checks.ts'
import type { Credentials, Exchange, Target, TargetFailure, TestRequest, TestResponse } from './exchange.ts'
import { withGap } from './measured-gap.ts'
import type { RecordedResults } from './recorded-results.ts'
import { withOwnKey } from './requests/own-key.ts'
import type { RunEnd, TestFailure, TestProgress } from './results.ts'
import { requestPrinter, shownResponse, violationText } from './shown-messages.ts'

/** The bounds of a run. */
export type RunBounds = {
  seed: number
  requests: number
  seconds: number
  failures: number
  /** Milliseconds. */
  gap: number
}

/** Milliseconds to wait for a server that went away: a supervisor may start it again. */
const restartPauses = [100, 400, 1_500]

/** Ends a run, since a bound is reached, it was aborted, or the server went away. */
export class RunEnded extends Error {
  readonly end: RunEnd

  constructor(end: RunEnd) {
    super(`the run ended: ${end}`)
    this.end = end
  }
}

/** A failure of a check of a response. */
export type CheckedFound = { check: NamedCheck; found: Found }

/** What a run needs. */
export type RunParts = {
  document: Document
  contract: Omit<ResponseContract, 'hasAccepted'>
  target: Target
  credentials: Credentials
  results: RecordedResults
  bounds: RunBounds
  /** Whether the server is in this process, so that its gaps of the event loop can be measured. */
  isInProcess: boolean
  onProgress?: ((progress: TestProgress) => void) | undefined
  signal?: AbortSignal | undefined
}

/** The number of times that a request is sent again to a server that is busy, and the longest wait in milliseconds. */
const maxRetries = 3
const maxWait = 1_000

/** Sends requests within the bounds of a run, checks the responses, and records failures. */
export class TestRun {
  readonly contract: ResponseContract
  readonly parts: RunParts
  requests = 0
  shrinkRequests = 0
  longestGap = 0
  /** While failures are shrunk, requests count as such, and no other failures are recorded. */
  isShrinking = false
  #hasAnswered = false
  readonly #start = performance.now()
  readonly #print: ReturnType<typeof requestPrinter>
  /** The requests as they were sent, with credentials. */
  readonly #sent = new WeakMap<TestRequest, TestRequest>()

  constructor(parts: RunParts) {
    this.parts = parts
    const { results, contract } = parts
    this.contract = { ...contract, hasAccepted: (operation, source) => results.hasAccepted(operation, source) }
    this.#print = requestPrinter(parts.document, parts.target)
  }

  get seconds(): number {
    return (performance.now() - this.#start) / 1_000
  }

  /** Sends a request with accepted credentials; undefined if there are none for it, or no response to compare. */
  async send(request: TestRequest): Promise<TestResponse | undefined> {
    const sent = this.parts.credentials.accepted(withOwnKey(request))
    if (sent === undefined) return undefined
    this.#sent.set(request, sent)
    return await this.#exchange(request, sent)
  }

  /** Sends a request as it is; undefined if there is no response to compare. */
  sendAsIs(request: TestRequest): Promise<TestResponse | undefined> {
    return this.#exchange(request, request)
  }

  /** Returns what the checks find in a response, without those that are turned off. */
  look(exchange: Exchange): CheckedFound[] {
    const { results } = this.parts
    const all: CheckedFound[] = []
    for (const check of responseChecks) {
      if (results.isOff(exchange.request.operation, check)) continue
      results.countLook(check)
      const found = check.find(exchange, this.contract)
      if (found !== undefined) all.push({ check, found })
    }
    return all
  }

  /** Records a failure, unless its check is turned off or it is a repetition. Ends the run if there are too many. */
  record(
    check: NamedCheck,
    found: Found,
    request: TestRequest,
    response?: TestResponse,
    earlier: TestRequest[] = [],
  ): void {
    const { results, bounds } = this.parts
    const { operation, violation, source } = request
    if (this.isShrinking || results.isOff(operation, check) || results.isRepeated(operation, check.name, found)) return
    const { operationId, method, path } = operation
    const failure: TestFailure = {
      check: check.name,
      operation: { operationId, method, path },
      ...found,
      violation: violation && violationText(violation),
      source,
      request: this.#print(this.#sent.get(request) ?? request),
      response: response && shownResponse(response),
      earlier: earlier.map((one) => this.#print(this.#sent.get(one) ?? one)),
      repeats: 0,
      seed: bounds.seed,
      after: { requests: this.requests + this.shrinkRequests, seconds: this.seconds },
    }
    results.add(operation, failure)
    if (results.failures.length >= bounds.failures) throw new RunEnded('failures')
  }

  /** Throws if a bound is reached. */
  assertBounds(): void {
    const { bounds, signal } = this.parts
    if (signal?.aborted) throw new RunEnded('aborted')
    if (this.seconds >= bounds.seconds) throw new RunEnded('seconds')
    if (!this.isShrinking && this.requests >= bounds.requests) throw new RunEnded('requests')
  }

  /** Reports how far the run is. */
  reportProgress(): void {
    const { results, bounds, onProgress } = this.parts
    onProgress?.({
      operations: results.operations.length,
      tested: results.tested,
      requests: this.requests,
      maxRequests: bounds.requests,
      failures: results.failures.length,
      seconds: this.seconds,
      maxSeconds: bounds.seconds,
    })
  }

  /** Sends a request with accepted credentials. Returns why there is no response, which is not recorded. */
  async attempt(request: TestRequest): Promise<TargetFailure | undefined> {
    const sent = this.parts.credentials.accepted(request)
    if (sent === undefined) return undefined
    this.#sent.set(request, sent)
    let failure: TargetFailure | undefined
    try {
      await this.#exchange(request, sent, function keep(one) {
        failure = one
      })
    } catch (error) {
      // The next request ends the run, after this failure is recorded.
      if (failure === undefined) throw error
    }
    return failure
  }

  async #exchange(
    request: TestRequest,
    sent: TestRequest,
    fail = ({ kind, message }: TargetFailure) =>
      this.record(completeResponse, { expected: 'a complete response', got: message, kind }, request),
  ): Promise<TestResponse | undefined> {
    this.assertBounds()
    const { operation } = request
    if (this.isShrinking) this.shrinkRequests++
    else {
      this.requests++
      this.parts.results.of(operation).requests++
    }
    const response = await this.#response(request, sent, fail)
    if (response === undefined) return undefined
    this.#hasAnswered = true
    if (request.violation === undefined && request.method === operation.method)
      this.parts.results.addStatus(operation, request.source, response.status)
    this.reportProgress()
    return response
  }

  /**
   * Sends a request, again if the server is busy; undefined if its rate limit still rejects it, or if there is no complete
   * response, for which `fail` is called. Throws if the server could never be reached.
   */
  async #response(
    request: TestRequest,
    sent: TestRequest,
    fail: (failure: TargetFailure) => void,
  ): Promise<TestResponse | undefined> {
    for (let retries = 0; ; retries++) {
      try {
        const response = await this.#measured(request, sent)
        this.parts.results.countLook(completeResponse)
        // A limit of authentication failures rejects wrong credentials for as long as a test takes.
        const isAgain = retries < maxRetries && request.violation?.part !== 'credentials'
        const pause = isAgain ? pauseOf(response) : undefined
        // A rate limit says nothing about the request.
        if (pause === undefined) return response.status === 429 ? undefined : response
        await wait(Math.min(pause, maxWait))
      } catch (error) {
        const { kind } = error as Partial<TargetFailure>
        if (kind === 'unsendable') return undefined
        const isAway = isUnreachable(kind)
        if (kind === undefined || (isAway && !this.#hasAnswered)) throw error
        fail(error as TargetFailure)
        if (isAway) await this.#untilBack(sent)
        return undefined
      }
    }
  }

  /** Resolves once the server answers again. Ends the run if it does not. */
  async #untilBack(sent: TestRequest): Promise<void> {
    for (const pause of restartPauses) {
      await wait(pause)
      this.assertBounds()
      const isBack = await this.parts.target.send(sent).then(
        () => true,
        ({ kind }: TargetFailure) => !isUnreachable(kind),
      )
      if (isBack) return
    }
    throw new RunEnded('unreachable')
  }

  async #measured(request: TestRequest, sent: TestRequest): Promise<TestResponse> {
    const { target, isInProcess, bounds } = this.parts
    if (!isInProcess) return await target.send(sent)
    const { result, gap } = await withGap(() => target.send(sent))
    this.longestGap = Math.max(this.longestGap, gap)
    this.parts.results.countLook(eventLoopGap)
    if (gap > bounds.gap) {
      // Another process may have had the processor, so the request must block the loop twice.
      const again = await withGap(() => target.send(sent))
      const least = Math.min(gap, again.gap)
      const found = { expected: `at most ${bounds.gap} ms`, got: `${Math.round(least)} ms`, kind: '' }
      if (least > bounds.gap) this.record(eventLoopGap, found, request, again.result)
    }
    return result
  }
}

/** A server that is starting again, or a proxy before it, may also fail the handshake of TLS. */
const isUnreachable = (kind?: TargetFailure['kind']): boolean => kind === 'unreachable' || kind === 'tls'

/** Returns the milliseconds after which a busy server asks for the request again; undefined if it is not busy. */
function pauseOf({ status, headers }: TestResponse): number | undefined {
  const { 'retry-after': text } = headers
  if ((status !== 429 && status !== 503) || typeof text !== 'string') return undefined
  return /^\d+$/.test(text) ? Number(text) * 1_000 : maxWait
}
