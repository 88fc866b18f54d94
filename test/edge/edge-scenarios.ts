/**
 * npm run edge [-- NAME...]
 *
 * Runs the built service as it is in operation, restarted, overloaded, beside slow clients, out of files, and looks
 * whether its clients get what it promises. The load comes from this process. Prints each figure on a line; ends with 1
 * when a figure is not what it must be. Needs Linux.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../../scripts/build/bundle.ts'
import { newReport } from '../scenarios/scenario-report.ts'
import { descriptors } from './descriptors.ts'
import { overload } from './overload.ts'
import { revocation } from './revocation.ts'
import { rolling } from './rolling-restarts.ts'
import type { Scenario } from './scenario.ts'
import { slow } from './slow-connections.ts'

const scenarios: Record<string, Scenario> = { rolling, slow, overload, descriptors, revocation }

// The processes that were started end with this one.
process.once('SIGINT', () => process.exit(130))
const given = process.argv.slice(2)
const names = given.length === 0 ? Object.keys(scenarios) : given
const unknown = names.filter((name) => !Object.hasOwn(scenarios, name))
if (unknown.length > 0) throw new Error(`no scenario ${unknown}, there are: ${Object.keys(scenarios).join(', ')}`)
await bundle()
for (const name of names) if (!(await passes(name, scenarios[name] as Scenario))) process.exitCode = 1

async function passes(name: string, { title, run }: Scenario): Promise<boolean> {
  process.stdout.write(`${name}: ${title}\n`)
  const report = newReport(name)
  const directory = await mkdtemp(join(tmpdir(), `plant-store-${name}-`))
  await run(report, directory)
  if (report.failed) process.stderr.write(`${name} failed: ${directory} is kept\n`)
  else await rm(directory, { recursive: true })
  return !report.failed
}
