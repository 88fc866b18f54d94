import { casesOf } from 'fastify-contract-test-support/requests/cases'
import { runCasesConcurrently } from 'fastify-contract-test-support/requests/run-cases'
import { connect } from 'fastify-contract-test-support/requests/service-client'
import { errorNumbers } from '../../../generated/error-numbers.ts'
import { commandLine } from '../../../scripts/system/command-line.ts'
import { build } from '../../scenarios/run-build.ts'
import { document } from '../../support/contract.ts'
import { spawnService } from '../../support/service-process.ts'
import { checkedRequest } from './checked-request.ts'

const { options } = commandLine(
  `.ci/nightly property [--runs=100000] [--seed=N]

Generates requests from the document, sends them to the built service and checks every response against the
document. Prints the number of requests, their rate and the seed. If a response is wrong, prints the smallest
request that shows it and exits with 1.
`,
  { runs: 100_000, seed: 1 + (Date.now() % 1_000_000) },
)
const { runs, seed } = options

process.once('SIGINT', () => process.exit(130))
await build()
const environment = { ACCESS_TOKENS: '', ACCESS_LOG: 'off' }
const command = [process.execPath, 'dist/server.js']
const service = await spawnService(environment, { command, detached: true }).serving()
const client = connect(service.port, `Bearer ${await service.generatedToken()}`)
const cases = casesOf(document, errorNumbers)
try {
  const { requests, seconds } = await runCasesConcurrently(cases, checkedRequest(client), runs, seed)
  const rate = Math.round(requests / seconds)
  process.stdout.write(
    `${requests} requests of ${cases.length} cases in ${seconds.toFixed(1)} s, ${rate}/s, seed ${seed}: every response matches the document\n`,
  )
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
} finally {
  client.close()
  await service.stop()
}
