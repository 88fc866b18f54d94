import * as fc from 'fast-check'
import type { Exchange, TestRequest } from './exchange.ts'
import { type CheckedFound, RunEnded, type TestRun } from './test-run.ts'

/** The maximum number of requests that shrink one failure. */
const maxShrinks = 100

/** Returns a seed that depends on texts and numbers only, for the same requests in each run (FNV-1a, 32 bits). */
export function seedOf(...parts: (string | number)[]): number {
  let hash = 0x811c9dc5
  for (const character of parts.join('\0')) hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193)
  return hash | 0
}

/** Returns the request of a seed; undefined if none is found. */
export function drawn(requests: fc.Arbitrary<TestRequest>, seed: number): TestRequest | undefined {
  try {
    // The check generates the same value as the one that shrinks it.
    let first: TestRequest | undefined
    fc.check(
      fc.property(requests, (request) => {
        first ??= request
      }),
      { seed, numRuns: 1 },
    )
    return first
  } catch {
    return undefined
  }
}

/** Sends a request and records what the checks find. Returns the exchange if there is a response. */
export async function sendAndRecord(run: TestRun, request: TestRequest): Promise<Exchange | undefined> {
  const response = await run.send(request)
  if (response === undefined) return undefined
  for (const { check, found } of run.look({ request, response })) run.record(check, found, request, response)
  return { request, response }
}

/**
 * Sends the request of a seed, and records what the checks find, each with the smallest request that shows it. Returns the
 * exchange if there is a response.
 */
export async function sendDrawn(
  run: TestRun,
  requests: fc.Arbitrary<TestRequest>,
  seed: number,
): Promise<Exchange | undefined> {
  const request = drawn(requests, seed)
  const response = request && (await run.send(request))
  if (request === undefined || response === undefined) return undefined
  for (const found of run.look({ request, response })) {
    if (run.parts.results.isRepeated(request.operation, found.check.name, found.found)) continue
    const smallest = await shrunk(run, requests, seed, found)
    const { exchange, found: shown } = smallest ?? { exchange: { request, response }, found: found.found }
    run.record(found.check, { ...shown, kind: found.found.kind }, exchange.request, exchange.response)
  }
  return { request, response }
}

type Smallest = { exchange: Exchange; found: CheckedFound['found'] }

/** Returns the smallest exchange that shows a failure; undefined if the failure does not occur again. */
async function shrunk(
  run: TestRun,
  requests: fc.Arbitrary<TestRequest>,
  seed: number,
  { check, found: { kind } }: CheckedFound,
): Promise<Smallest | undefined> {
  let smallest: Smallest | undefined
  let count = 0
  let stopped: unknown
  run.isShrinking = true
  await fc.check(fc.asyncProperty(requests, passes), { seed, numRuns: 1 })
  run.isShrinking = false
  if (stopped !== undefined && !(stopped instanceof RunEnded)) throw stopped
  return smallest

  async function passes(request: TestRequest): Promise<boolean> {
    if (count++ >= maxShrinks || stopped !== undefined) return true
    try {
      const response = await run.send(request)
      const found =
        response && run.look({ request, response }).find((one) => one.check === check && one.found.kind === kind)
      if (response === undefined || found === undefined) return true
      smallest = { exchange: { request, response }, found: found.found }
      return false
    } catch (error) {
      // For the property, an error would be a smaller failure.
      stopped = error
      return true
    }
  }
}
