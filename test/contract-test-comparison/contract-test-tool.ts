import { spawnProcess } from 'fastify-contract-test-support/child-process'
import type { Tool } from './tool-run.ts'

/** Longer than the bound of a run, 60 seconds. */
const maxMilliseconds = 600_000

/** The contract test of this repository with its defaults, over HTTP. */
export const contractTestTool: Tool = {
  name: 'contract test',
  async run({ url, document, seed, variables }) {
    const start = Date.now()
    const command = [process.execPath, '--import=tsx', 'test/contract-test-comparison/contract-test-process.ts']
    const running = spawnProcess([...command, url, document, String(seed)], { env: variables })
    const { code, stdout, stderr } = await running.untilEnded(maxMilliseconds)
    const seconds = (Date.now() - start) / 1_000
    if (code !== 0) throw new Error(`the contract test exited with ${code}: ${stderr}`)
    const { failures, requests } = JSON.parse(stdout)
    return { findings: failures, requests, seconds }
  },
}
