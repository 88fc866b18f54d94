import type { Endpoint } from '../document/openapi-document.ts'
import type { Tools } from './checks/check.ts'
import { probes } from './checks/checks.ts'
import { drawn, seedOf, sendAndRecord, sendDrawn } from './drawn-requests.ts'
import type { Exchange, TestRequest, TestResponse } from './exchange.ts'
import type { InvalidRequests, OperationRequests, RequestMaker } from './requests/requests-of.ts'
import type { OperationName } from './results.ts'
import { followLinks } from './sequences/follow-links.ts'
import { runLifecycle, type SequenceTools } from './sequences/lifecycle.ts'
import { atPathOf } from './sequences/moved-request.ts'
import { resourcesOf } from './sequences/resources.ts'
import type { TestRun } from './test-run.ts'

/** The number of times that each resource is created before random requests, and of rounds of those for each other time. */
const lifecycles = 3
const roundsOfLifecycle = 20
/**
 * The number of random requests until one is accepted. The state of a server may reject some, as with a name in use; others
 * than those that create something would meet what sequences need.
 */
const firstTries = 5
const triesOf = ({ method }: Endpoint): number => (method === 'POST' ? firstTries : 1)
/** The number of invalid requests of an operation that are sent between others. */
const maxInvalid = 24

/** What a plan needs beside the run. */
export type PlanParts = {
  operations: Endpoint[]
  maker: RequestMaker
  before: ((operation: OperationName) => unknown) | undefined
}

/** Sends the requests of a run in an order that depends on the document and the seed only. */
export class RunPlan {
  readonly #run: TestRun
  readonly #parts: PlanParts
  readonly #prepared = new Set<Endpoint>()
  /** The first exchange of each operation with a status of 2xx. */
  readonly #accepted = new Map<Endpoint, Exchange>()
  readonly #probed = new Set<Endpoint>()

  constructor(run: TestRun, parts: PlanParts) {
    this.#run = run
    this.#parts = parts
  }

  /**
   * Sends the examples of all operations, the requests of the checks that have some, sequences, values at bounds,
   * combinations of optional parts, each violation, and then random requests until a bound of the run throws.
   */
  async execute(): Promise<void> {
    const { operations } = this.#parts
    await this.#inTurn(({ examples }) => examples)
    // A random request stands for an example that is missing or was not accepted.
    for (const operation of operations)
      for (let round = 0; round < triesOf(operation) && !this.#accepted.has(operation); round++)
        await this.#sendRandom(operation, round)
    for (const operation of operations) await this.#runProbes(operation)
    await this.#runSequences()
    await this.#inTurn(({ boundaries }) => boundaries)
    await this.#inTurn(({ pairwise }) => pairwise)
    await this.#sendEachViolation()
    const varied = operations.filter(isVaried)
    // Without values or credentials nothing is sent, and no bound would be reached.
    for (let round = firstTries, sent = -1; sent < this.#run.requests; round++) {
      sent = this.#run.requests
      for (const operation of varied) await this.#sendRound(operation, round)
      if (round % roundsOfLifecycle === 0) await this.#runLifecycles(lifecycles + round / roundsOfLifecycle)
    }
  }

  #requestsOf(operation: Endpoint): OperationRequests {
    return this.#parts.maker.requestsOf(operation)
  }

  /** Sends a list of requests of each operation, one of each operation in turn. */
  async #inTurn(listOf: (requests: OperationRequests) => TestRequest[]): Promise<void> {
    for (let index = 0, isMore = true; isMore; index++) {
      isMore = false
      for (const operation of this.#parts.operations) {
        const request = listOf(this.#requestsOf(operation))[index]
        if (request === undefined) continue
        isMore = true
        await this.#prepare(operation)
        await this.#sendAndKeep(request)
      }
    }
  }

  /** Calls the hook of the user once for each operation. */
  async #prepare(operation: Endpoint): Promise<void> {
    if (this.#prepared.has(operation)) return
    this.#run.assertBounds()
    this.#prepared.add(operation)
    const { operationId, method, path } = operation
    await this.#parts.before?.({ operationId, method, path })
  }

  #keep(exchange: Exchange | undefined): void {
    if (exchange === undefined || exchange.response.status >= 300) return
    const { request } = exchange
    if (request.violation === undefined && !this.#accepted.has(request.operation))
      this.#accepted.set(request.operation, exchange)
  }

  async #sendRandom(operation: Endpoint, round: number): Promise<void> {
    const { random } = this.#requestsOf(operation)
    if (random === undefined) return
    await this.#prepare(operation)
    this.#keep(await sendDrawn(this.#run, random, this.#seed(operation, 'random', round)))
  }

  async #sendViolation(operation: Endpoint, index: number, round: number): Promise<void> {
    const one = this.#requestsOf(operation).invalid[index]
    if (one === undefined) return
    await this.#prepare(operation)
    await sendDrawn(this.#run, one.requests, this.#seed(operation, `violation ${index}`, round))
  }

  async #sendEachViolation(): Promise<void> {
    const { operations } = this.#parts
    const counts = operations.map((operation) => this.#requestsOf(operation).invalid.length)
    for (let index = 0; index < Math.max(0, ...counts); index++)
      for (const operation of operations) await this.#sendViolation(operation, index, 0)
  }

  async #sendRound(operation: Endpoint, round: number): Promise<void> {
    const { invalid } = this.#requestsOf(operation)
    await this.#sendRandom(operation, round)
    if (invalid.length > 0) await this.#sendViolation(operation, round % invalid.length, round)
  }

  #seed(operation: Endpoint, name: string, round: number): number {
    return seedOf(this.#run.parts.bounds.seed, operation.operationId, name, round)
  }

  /** Returns some invalid requests of an operation with a valid path: one of each place in turn. */
  #invalid(operation: Endpoint): TestRequest[] {
    const found: TestRequest[] = []
    const { invalid } = this.#requestsOf(operation)
    const others = invalid.filter(({ violation }) => violation.part !== 'path')
    // A server that rejects a request late may have changed something before.
    for (const one of [
      ...inTurnByPlace(others.filter(isLate)),
      ...inTurnByPlace(others.filter((one) => !isLate(one))),
    ]) {
      if (found.length >= maxInvalid) break
      const request = drawn(one.requests, this.#seed(operation, `violation ${invalid.indexOf(one)}`, 0))
      if (request !== undefined) found.push(request)
    }
    return found
  }

  /** Returns a valid request of an operation: an example at first, if one was accepted, or else a random one. */
  #valid(operation: Endpoint, index: number): TestRequest | undefined {
    const { random, examples } = this.#requestsOf(operation)
    if (index < examples.length) return examples[index]
    const request = random && drawn(random, this.#seed(operation, 'sequence', index))
    // Requests of a sequence are not shrunk, so their JSON has the plain notation.
    return request && (this.#parts.maker.requestWith(operation, request.values, request.source) ?? request)
  }

  /** Returns a valid GET at the path of a request, with the other parts of one that was accepted, if there is one. */
  #readAt(request: TestRequest): TestRequest | undefined {
    const { path } = request.operation
    const get = this.#parts.operations.find((one) => one.method === 'GET' && one.path === path)
    const own = get && (this.#accepted.get(get)?.request ?? this.#valid(get, 0))
    return own && atPathOf(request, own)
  }

  async #sendAsIs(request: TestRequest): Promise<TestResponse | undefined> {
    const response = await this.#run.sendAsIs(request)
    if (response === undefined) return undefined
    for (const { check, found } of this.#run.look({ request, response }))
      this.#run.record(check, found, request, response)
    return response
  }

  async #runProbes(
    operation: Endpoint,
    exchange = this.#accepted.get(operation),
    before: TestRequest[] = [],
  ): Promise<void> {
    if (exchange === undefined || this.#probed.has(operation)) return
    this.#probed.add(operation)
    const { results, credentials, target } = this.#run.parts
    const { sendCut } = target
    const tools: Tools = {
      contract: this.#run.contract,
      send: async (request) => (await sendAndRecord(this.#run, request))?.response,
      attempt: (request) => this.#run.attempt(request),
      sendAsIs: (request) => this.#sendAsIs(request),
      sendCut: sendCut && (async (request, length) => await sendCut(credentials.accepted(request) ?? request, length)),
      rejected: (request) => credentials.rejected(request),
      invalid: (one) => this.#invalid(one),
      readAt: (request) => this.#readAt(request),
      operations: this.#parts.operations,
    }
    for (const probe of probes) {
      if (results.isOff(operation, probe)) continue
      results.countLook(probe)
      for (const { exchange: last, earlier, ...found } of await probe.probe(exchange, tools))
        this.#run.record(probe, found, last.request, last.response, [...before, ...earlier])
    }
  }

  async #sendAndKeep(request: TestRequest): Promise<Exchange | undefined> {
    const exchange = await sendAndRecord(this.#run, request)
    this.#keep(exchange)
    return exchange
  }

  /** Runs the checks of an operation that accepted a request before, now with another request. */
  async #runProbesOf(request: TestRequest, before: TestRequest[]): Promise<void> {
    const { operation } = request
    const accepted = this.#accepted.get(operation)
    if (accepted !== undefined) await this.#runProbes(operation, { request, response: accepted.response }, before)
  }

  async #runSequences(): Promise<void> {
    const { operations } = this.#parts
    for (const exchange of this.#accepted.values())
      await followLinks(this.#run.parts.document, operations, exchange, this.#sequenceTools())
    for (let index = 0; index < lifecycles; index++) await this.#runLifecycles(index)
  }

  async #runLifecycles(index: number): Promise<void> {
    for (const resource of resourcesOf(this.#parts.operations))
      await runLifecycle(resource, index, this.#sequenceTools())
  }

  #sequenceTools(): SequenceTools {
    const { maker } = this.#parts
    const { results } = this.#run.parts
    return {
      isOwn: this.#run.contract.isOwn,
      write: (operation, values) => maker.requestWith(operation, values),
      send: (request) => this.#sendAndKeep(request),
      probe: (request, earlier) => this.#runProbesOf(request, earlier),
      countLook: (check) => results.countLook(check),
      valid: (operation, index) => this.#valid(operation, index),
      invalid: (operation) => this.#invalid(operation),
      fail: (check, found, { request, response }, earlier) =>
        this.#run.record(check, { ...found, kind: request.method }, request, response, earlier),
    }
  }
}

/** Returns whether a server can reject requests only after it has read all values with their types. */
const isLate = ({ violation: { place, reason } }: InvalidRequests): boolean =>
  place !== '' && reason !== 'missing' && !reason.includes(' instead of ')

/** Returns the first violation of each place, then the second ones, and so on. */
function inTurnByPlace(all: InvalidRequests[]): InvalidRequests[] {
  const counts = new Map<string, number>()
  const ranked = all.map(function rankOf(one) {
    const place = `${one.violation.part} ${one.violation.place}`
    const rank = counts.get(place) ?? 0
    counts.set(place, rank + 1)
    return { one, rank }
  })
  return ranked.sort((one, other) => one.rank - other.rank).map(({ one }) => one)
}

/** Returns whether the requests of an operation differ. */
const isVaried = ({ parameters, requestBody }: Endpoint): boolean => parameters.length > 0 || requestBody !== undefined
