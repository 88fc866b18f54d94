import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { runBounded } from './bounded-process.ts'
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

/** The options of a mode, and the seconds after which a run is ended. */
type Mode = { name: string; seeds: number[]; options: string[]; seconds: number }

/** Returns Schemathesis in a mode as a tool. */
export const schemathesis = (
  { name, seeds, options, seconds: most }: Mode,
  { schemathesis, directory }: Installed,
): Tool => ({
  name,
  seeds,
  async run({ url, document, headers, seed, signal }) {
    const report = join(directory, 'schemathesis.ndjson')
    await rm(report, { force: true })
    const start = Date.now()
    const end = await runBounded(
      [
        ...[schemathesis, 'run', document, '--url', url, '--seed', String(seed), '--no-color'],
        ...['--report', 'ndjson', '--report-ndjson-path', report, '--generation-database', 'none'],
        // The plant store rejects NUL, which only the prose of its document says.
        ...['--generation-allow-x00', 'false'],
        ...Object.entries(headers).flatMap((header) => ['--header', header.join(': ')]),
        ...options,
      ],
      { cwd: directory, seconds: most, signal },
    )
    const { code, stdout, stderr, seconds, isBounded } = end
    if (!isBounded && code !== 0 && code !== 1)
      throw new Error(`Schemathesis exited with ${code}: ${stdout}${stderr}`.slice(0, 2_000))
    const text = await readFile(report, 'utf8').catch(() => '')
    return { ...findingsIn(text, start), seconds, isBounded }
  },
})

/** Returns the first finding of each key in a report, and the number of requests. */
export function findingsIn(text: string, start: number): { findings: Finding[]; requests: number } {
  const findings = new Map<string, Finding>()
  let requests = 0
  // The last line of a run that was ended may be cut off.
  for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
    if (line === '') continue
    const { ScenarioFinished: scenario }: { ScenarioFinished?: Scenario } = JSON.parse(line)
    const { checks = {}, interactions = {}, label = '' } = scenario?.recorder ?? {}
    for (const [id, { timestamp }] of Object.entries(interactions)) {
      requests += 1
      for (const { name, status, failure_info: info } of checks[id] ?? []) {
        const { operation = label, title = name, message = '' } = info?.failure ?? {}
        const key = `${operation} ${name} ${title}`
        if (status !== 'failure' || findings.has(key)) continue
        const seconds = timestamp - start / 1_000
        findings.set(key, { key, requests, seconds, text: `${operation}: ${title} ${message}` })
      }
    }
  }
  return { findings: [...findings.values()], requests }
}
