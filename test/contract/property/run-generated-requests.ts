import { runContractTest } from 'fastify-contract-cli/contract-test'
import { contract } from '../../../generated/contract.mjs'
import { commandLine } from '../../../scripts/system/command-line.ts'
import { build } from '../../scenarios/run-build.ts'
import { spawnService } from '../../support/service-process.ts'

const { options } = commandLine(
  `.ci/nightly property [--runs=100000] [--seed=N]

Generates requests from the document, sends them to the built service and checks every response against the
document. Prints the number of requests, their rate and the seed. If responses are wrong, prints the smallest requests
that show it and exits with 1.
`,
  { runs: 100_000, seed: 1 + (Date.now() % 1_000_000) },
)
const { runs, seed } = options

process.once('SIGINT', () => process.exit(130))
await build()
const environment = { ACCESS_TOKENS: '', ACCESS_LOG: 'off' }
const command = [process.execPath, 'dist/server.js']
const service = await spawnService(environment, { command, detached: true }).serving()
/** A day. */
const seconds = 86_400
try {
  const credentials = { bearer: await service.generatedToken() }
  const url = `http://127.0.0.1:${service.port}`
  const result = await runContractTest({ url }, { document: contract, requests: runs, seed, seconds, credentials })
  const rate = Math.round(result.requests / result.seconds)
  process.stdout.write(`${result.requests} requests in ${result.seconds.toFixed(1)} s, ${rate}/s, seed ${seed}\n`)
  for (const { check, expected, got, request } of result.failures) {
    process.stderr.write(
      `${check}: expected ${expected}, got ${got}: ${request.method} ${request.target} ${request.body}\n`,
    )
    process.exitCode = 1
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
} finally {
  await service.stop()
}
