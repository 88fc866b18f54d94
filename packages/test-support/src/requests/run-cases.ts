import * as fc from 'fast-check'
import type { Case, Request } from './cases.ts'

/** Sends a request of a case. Rejects if the response is not the expected one. */
export type SendAndCheck = (one: Case, request: Request) => Promise<void>

export type Checked = { requests: number; seconds: number }

/** The size of a batch. A batch has its own seed and sends its requests one after the other. */
const batch = 500
/** The number of batches that run concurrently. */
const connections = 16

/**
 * Sends about `runs` requests. Half of them are valid; the invalid cases share the other half equally, with at least
 * one request each. The same runs and seed make the same requests. Rejects with the smallest request whose response is
 * wrong.
 */
export async function runCasesConcurrently(
  cases: Case[],
  ask: SendAndCheck,
  runs: number,
  seed: number,
): Promise<Checked> {
  const start = performance.now()
  const batches = cases.flatMap((one) => batchesOf(one, Math.ceil(share(one, cases) * runs)))
  const failures: Error[] = []
  let requests = 0
  const next = batches.entries()
  const work = async () => {
    for (const [index, { one, numRuns }] of next) {
      if (failures.length > 0) return
      const property = fc.asyncProperty(one.requests, (request) => ask(one, request))
      const details = await fc.check(property, { numRuns, seed: seed + index })
      requests += details.numRuns
      if (details.failed) failures.push(explain(one, details, `runs ${runs}, seed ${seed}`))
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  if (failures[0] !== undefined) throw failures[0]
  return { requests, seconds: (performance.now() - start) / 1000 }
}

function share({ error }: Case, cases: Case[]): number {
  const alike = cases.filter((other) => (other.error === undefined) === (error === undefined))
  return 0.5 / alike.length
}

const batchesOf = (one: Case, runs: number) =>
  Array.from({ length: Math.ceil(runs / batch) }, (_, index) => ({
    one,
    numRuns: Math.min(batch, runs - index * batch),
  }))

function explain({ name, endpoint }: Case, details: fc.RunDetails<[Request]>, again: string): Error {
  const { counterexample, errorInstance, numShrinks } = details
  const [request] = counterexample ?? []
  const lines = [
    `${name}: ${(errorInstance as Error | undefined)?.message ?? errorInstance}`,
    `smallest request, after ${numShrinks} steps: ${endpoint.method} ${request?.path} ${JSON.stringify(request?.headers)}`,
    request?.body === undefined ? 'no body' : `body ${fc.stringify(String(request.body))}`,
    again,
  ]
  return new Error(lines.join('\n'))
}
