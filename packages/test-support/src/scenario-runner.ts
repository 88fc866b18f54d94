import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { newReport, type Report } from './scenario-report.ts'

/** Requirements of scenarios, each with the check whether this machine meets it. */
const requirements = {
  strace: () => spawnSync('strace', ['-V']).status === 0,
  nginx: () => spawnSync('nginx', ['-v']).status === 0,
  haproxy: () => spawnSync('haproxy', ['-v']).status === 0,
  'root on Linux': () => process.platform === 'linux' && process.getuid?.() === 0,
}

export type Scenario<Given = object> = {
  /** One line that says what happens. */
  title: string
  needs?: (keyof typeof requirements)[]
  /** Runs in a new directory, which is removed unless a figure is out of bounds. */
  run(report: Report, options: Given & { directory: string }): Promise<void>
}

/** Returns a line for the name and the title of each scenario, for the help text of a command. */
export const scenarioList = (scenarios: Record<string, Pick<Scenario, 'title'>>): string =>
  Object.entries(scenarios)
    .map(([name, { title }]) => `${name.padEnd(18)}  ${title}`)
    .join('\n')

/**
 * Runs the named scenarios, or all if none is named, and prints their figures. Sets the exit code to 1 when a figure is
 * out of bounds, else to 2 when a scenario could not run.
 */
export async function runScenarios<Given extends object>(
  scenarios: Record<string, Scenario<Given>>,
  names: string[],
  options: Given,
): Promise<void> {
  const unknown = names.find((name) => !Object.hasOwn(scenarios, name))
  if (unknown !== undefined)
    throw new Error(`unknown scenario ${unknown}; expected ${Object.keys(scenarios).join(', ')}`)
  const reports: Report[] = []
  for (const [name, scenario] of Object.entries(scenarios))
    if (names.length === 0 || names.includes(name)) reports.push(await run(name, scenario, options))
  process.exitCode = reports.some(({ failed }) => failed) ? 1 : reports.every(({ ran }) => ran) ? 0 : 2
}

async function run<Given>(name: string, scenario: Scenario<Given>, options: Given): Promise<Report> {
  const { title, needs } = scenario
  const needed = needs === undefined ? '' : `; needs ${needs.join(' and ') || 'nothing'}`
  process.stdout.write(`${name}: ${title}${needed}\n`)
  const report = newReport(name)
  const missing = needs?.filter((need) => !requirements[need]()) ?? []
  if (missing.length > 0) {
    report.notRun(missing.join(' and '))
    return report
  }
  const directory = await mkdtemp(join(tmpdir(), `${name}-`))
  const letGo = removeAtSignal(directory)
  await scenario.run(report, { ...options, directory })
  letGo()
  if (report.failed) process.stderr.write(`${name} failed: ${directory} is kept\n`)
  else await rm(directory, { recursive: true })
  return report
}

/** Makes SIGINT and SIGTERM end this process and remove the directory; returns a function that undoes this. */
function removeAtSignal(directory: string): () => void {
  const end = (signal: 'SIGINT' | 'SIGTERM') => {
    // Exit listeners run in order: those that kill services and unmount disks were registered before this one.
    process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }))
    process.exit(128 + constants.signals[signal])
  }
  process.once('SIGINT', end).once('SIGTERM', end)
  return () => void process.off('SIGINT', end).off('SIGTERM', end)
}
