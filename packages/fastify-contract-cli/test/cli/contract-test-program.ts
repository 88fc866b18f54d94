import type { FastifyInstance } from 'fastify'
import { reportError } from '../../src/cli/report-error.ts'
import { type ContractTest, runWith } from '../../src/cli/test.ts'
import { failure, hostile, request, resultOf } from '../contract-test/reports/sample-result.ts'

/** Stands in for the run: asks an application for /pets, or a URL for nothing, and returns what STAND_IN says. */
const standIn: ContractTest = async (server, options) => {
  const { STAND_IN = '', CONTRACT_TEST_TOKEN: secret = 'none' } = process.env
  const { document, seed, requests, seconds, operations, off, signal, onProgress } = options
  const isApplication = 'inject' in server
  const reply = isApplication
    ? (await (server as FastifyInstance).inject('/pets')).body
    : (server as { url: string }).url
  const shown = typeof document === 'string' ? document : Object.keys(Object(document)).includes('routes')
  const told = { reply, document: shown, seed, requests, seconds, operations, off }
  if (STAND_IN === 'unreachable') throw new Error(`${reply} cannot be reached; start the server`)
  if (STAND_IN === 'unknown check') throw new Error('off of a: unknown check "b"')
  onProgress?.({ operations: 3, tested: 1, requests: 9, maxRequests: 10, failures: 0, seconds: 1, maxSeconds: 60 })
  if (STAND_IN === 'wait') {
    const timer = setInterval(() => {}, 1_000)
    process.stderr.write('waiting\n')
    await new Promise((resolve) => signal?.addEventListener('abort', resolve))
    clearInterval(timer)
    return { ...resultOf(() => []), end: 'aborted' }
  }
  if (STAND_IN === 'untested') {
    const { operations, ...result } = resultOf(() => [])
    return { ...result, operations: operations.map((one) => ({ ...one, untested: 'no credentials' })) }
  }
  if (STAND_IN === '') return { ...resultOf(() => []), title: JSON.stringify(told) }
  return resultOf((operation) => [
    failure(operation, { got: `${hostile} ${secret}`, request: request({ body: Buffer.from(secret) }) }),
  ])
}

await runWith(standIn, process.argv.slice(2)).catch(reportError)
