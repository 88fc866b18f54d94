import { ContractTestError, contractTest } from 'fastify-contract-cli/contract-test'

// Tests the server of a URL, in a process of its own as the command does, and prints each failure with the number of
// requests and the seconds until then, which the report of the command does not have.
const [url = '', document = '', seed = '1'] = process.argv.slice(2)
const steps: { requests: number; seconds: number }[] = []
let last = { requests: 0, seconds: 0 }
const result = await contractTest(
  { url },
  {
    document,
    seed: Number(seed),
    onProgress({ failures, requests }) {
      last = { requests, seconds: process.uptime() }
      while (steps.length < failures) steps.push(last)
    },
  },
).catch(function resultOf(error) {
  if (error instanceof ContractTestError) return error.result
  throw error
})
const failures = result.failures.map(({ check, operation, expected, got }, index) => ({
  key: `${operation.method} ${operation.path} ${check}`,
  ...(steps[index] ?? last),
  text: `${operation.operationId} ${check}: expected ${expected}, got ${got}`,
}))
process.stdout.write(`${JSON.stringify({ failures, requests: result.requests + result.shrinkRequests })}\n`)
