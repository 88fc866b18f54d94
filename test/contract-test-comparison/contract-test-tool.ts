import { resolve } from 'node:path'
import { writePackages } from '../../scripts/build/packages.ts'
import { runBounded } from './bounded-process.ts'
import type { Finding, Tool } from './tool-run.ts'

/** More than the bound of a run, 60 seconds. */
const maxSeconds = 90

/** Within this repository, since the package that is built has its dependencies here. */
const built = 'dist/comparison'

export const contractTestName = 'contract test'

type Report = { requests: number; shrinkRequests: number; seconds: number; failures: Failure[] }
type Failure = Record<'check' | 'operationId' | 'method' | 'path' | 'expected' | 'got', string> & {
  after: { requests: number; seconds: number }
}

/** Builds the package as it is published. Returns its command with its defaults as a tool, over HTTP. */
export async function contractTestTool(seeds: number[]): Promise<Tool> {
  await writePackages(built)
  const command = resolve(built, 'fastify-contract-cli/dist/cli.js')
  return {
    name: contractTestName,
    seeds,
    async run({ url, document, seed, variables, signal }) {
      const args = ['test', document, '--url', url, '--seed', String(seed), '--json']
      const end = await runBounded([process.execPath, command, ...args], {
        env: variables,
        seconds: maxSeconds,
        signal,
      })
      const { code, stdout, stderr, seconds, isBounded } = end
      if (isBounded) return { findings: [], requests: 0, seconds, isBounded }
      if (code !== 0 && code !== 1) throw new Error(`the contract test exited with ${code}: ${stderr}`)
      const report: Report = JSON.parse(stdout)
      const before = seconds - report.seconds
      const findings = report.failures.map((failure) => findingOf(failure, before))
      return { findings, requests: report.requests + report.shrinkRequests, seconds, isBounded }
    },
  }
}

/** Returns a failure as a finding. The start and the end of the process count as before it. */
const findingOf = ({ check, operationId, method, path, expected, got, after }: Failure, before: number): Finding => ({
  key: `${method} ${path} ${check}`,
  requests: after.requests,
  seconds: before + after.seconds,
  text: `${operationId} ${check}: expected ${expected}, got ${got}`,
})
