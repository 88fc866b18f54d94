/**
 * npm run faults [-- NAME...] [--rounds=200] [--outages=10] [--images=1000] [--seed=N] [--store=URL]
 *
 * Breaks the built service, or what is under it, and looks whether it kept what it promised. Prints each figure on a
 * line. Ends with 1 when a figure is not what it must be, else with 2 when a scenario could not be run.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from '../../scripts/build/bundle.ts'
import { newReport, type Report } from '../scenarios/scenario-report.ts'
import { needs, type Scenario, type ScenarioOptions } from '../scenarios/scenario-runner.ts'
import { checkpoint } from './checkpoint.ts'
import { diskFull } from './disk-full.ts'
import { fsync } from './fsync.ts'
import { postgresFailover } from './postgres-failover.ts'
import { postgresKill } from './postgres-kill.ts'
import { postgresRestart } from './postgres-restart.ts'
import { postgresStandby } from './postgres-standby.ts'
import { powerLoss } from './power-loss/power-loss.ts'
import { randomOf } from './seeded-random.ts'
import { kill } from './service-kill.ts'

const scenarios: Record<string, Scenario> = {
  kill,
  'power-loss': powerLoss,
  'disk-full': diskFull,
  fsync,
  checkpoint,
  'postgres-kill': postgresKill,
  'postgres-restart': postgresRestart,
  'postgres-failover': postgresFailover,
  'postgres-standby': postgresStandby,
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '200' },
    outages: { type: 'string', default: '10' },
    images: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(1 + (Date.now() % 1_000_000)) },
    store: { type: 'string' },
  },
})

// The processes that were started end with this one.
process.once('SIGINT', () => process.exit(130))
const names = positionals.length === 0 ? Object.keys(scenarios) : positionals
const unknown = names.filter((name) => !Object.hasOwn(scenarios, name))
if (unknown.length > 0) throw new Error(`no scenario ${unknown}, there are: ${Object.keys(scenarios).join(', ')}`)
const numbers = {
  rounds: Number(values.rounds),
  outages: Number(values.outages),
  images: Number(values.images),
  seed: Number(values.seed),
}
for (const [name, value] of Object.entries(numbers)) {
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} is ${value}, allowed: an integer from 1`)
}
await bundle()
const reports: Report[] = []
for (const name of names) reports.push(await run(name, scenarios[name] as Scenario))
process.exitCode = reports.some(({ failed }) => failed) ? 1 : reports.every(({ ran }) => ran) ? 0 : 2

async function run(name: string, scenario: Scenario): Promise<Report> {
  process.stdout.write(`${name}: ${scenario.title}; needs ${scenario.needs.join(' and ') || 'nothing'}\n`)
  const report = newReport(name)
  const missing = scenario.needs.filter((need) => !needs[need]())
  if (missing.length > 0) {
    report.notRun(missing.join(' and '))
    return report
  }
  const directory = await mkdtemp(join(tmpdir(), `plant-store-${name}-`))
  const options: ScenarioOptions = {
    directory,
    random: randomOf(numbers.seed),
    rounds: numbers.rounds,
    outages: numbers.outages,
    images: numbers.images,
    storeUrl: values.store,
  }
  report.figure('seed', numbers.seed)
  await scenario.run(report, options)
  if (report.failed) process.stderr.write(`${name} failed: ${directory} is kept\n`)
  else await rm(directory, { recursive: true })
  return report
}
