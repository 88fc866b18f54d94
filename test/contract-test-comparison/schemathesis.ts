import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import type { Installed } from './install.ts'
import type { Finding, Tool } from './tool-run.ts'

/** What a line of the report of Schemathesis has for a scenario. */
type Scenario = {
  recorder: {
    label: string
    checks: Record<string, { name: string; status: string; failure_info?: { failure: Reported } }[]>
    interactions: Record<string, { timestamp: number }>
  }
}

type Reported = { operation: string; title: string; message: string }

/** Returns Schemathesis as a tool, with further options. */
export const schemathesis = (name: string, { schemathesis, directory }: Installed, options: string[]): Tool => ({
  name,
  async run({ url, document, headers, seed }) {
    const report = join(directory, 'schemathesis.ndjson')
    const start = Date.now()
    const running = spawnProcess(
      [
        ...[schemathesis, 'run', document, '--url', url, '--seed', String(seed), '--no-color'],
        ...['--report', 'ndjson', '--report-ndjson-path', report, '--generation-database', 'none'],
        // The plant store rejects NUL, which only the prose of its document says.
        ...['--generation-allow-x00', 'false'],
        ...Object.entries(headers).flatMap((header) => ['--header', header.join(': ')]),
        ...options,
      ],
      { cwd: directory },
    )
    const { code, stdout, stderr } = await running.untilEnded(maxMilliseconds)
    const seconds = (Date.now() - start) / 1_000
    if (code !== 0 && code !== 1) throw new Error(`Schemathesis exited with ${code}: ${stdout}${stderr}`)
    return { ...findingsIn(await readFile(report, 'utf8'), start), seconds }
  },
})

/** The full mode takes minutes for each operation. */
const maxMilliseconds = 3_600_000

/** Returns the first finding of each key in a report, and the number of requests. */
function findingsIn(text: string, start: number): { findings: Finding[]; requests: number } {
  const findings = new Map<string, Finding>()
  let requests = 0
  for (const line of text.trimEnd().split('\n')) {
    const { ScenarioFinished: scenario }: { ScenarioFinished?: Scenario } = JSON.parse(line)
    const { checks = {}, interactions = {}, label = '' } = scenario?.recorder ?? {}
    for (const [id, { timestamp }] of Object.entries(interactions)) {
      requests += 1
      for (const { name, status, failure_info: info } of checks[id] ?? []) {
        const { operation = label, title = name, message = '' } = info?.failure ?? {}
        const key = `${operation} ${name} ${title}`
        if (status !== 'failure' || findings.has(key)) continue
        findings.set(key, {
          key,
          requests,
          seconds: timestamp - start / 1_000,
          text: `${operation}: ${title} ${message}`,
        })
      }
    }
  }
  return { findings: [...findings.values()], requests }
}
