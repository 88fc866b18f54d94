import { access, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { writeFigures } from '../../scripts/benchmark/report.ts'
import { commandLine } from '../../scripts/system/command-line.ts'
import { checkFaults } from './check-faults.ts'
import { compare, comparisonOf, faultsOf, Runs } from './compare.ts'
import { comparisonText } from './comparison-table.ts'
import { contractTestName, contractTestTool } from './contract-test-tool.ts'
import { faults } from './faults.ts'
import { type Installed, install, installed, versions } from './install.ts'
import { schemathesis } from './schemathesis.ts'
import { writeDocuments } from './services.ts'
import type { Tool } from './tool-run.ts'

const page = 'packages/fastify-contract-cli/docs/contract-test-comparison.md'

const { options, words } = commandLine(
  `.ci/nightly comparison [FAULT...] [--seeds 1,2,3] [--full-seeds 1] [--tools NAME,NAME] [--bound 60]
    [--full-seconds 30] [--directory DIRECTORY] [--check] [--write]

Plants faults in three services, one by one, and tests each with the contract test of this repository and with
Schemathesis, in its default and its full mode. Prints what each tool found, after how many requests and seconds, and
what it reports of the services without a fault. Before, it checks by hand that each fault shows; with --check it does
nothing else. Needs Python 3.10 or newer.

--seeds and --full-seeds are the seeds of all tools and those of the full mode. --tools names some of contract-test,
default, full. A run of the default mode is ended after --bound seconds; the full mode repeats its tests for
--full-seconds. --write writes the tables to the page, after each fault. Without --directory, pip installs Schemathesis
and FastAPI in a temporary directory; with it they stay there, with all runs, so that an interrupted comparison is
continued: only what is missing, and the faults that are named, are run.

Exits with 1 if the contract test misses a fault, or reports a failure of a service without one.
`,
  {
    seeds: [1, 2, 3],
    'full-seeds': [1],
    tools: 'contract-test,default,full',
    bound: 60,
    'full-seconds': 30,
    directory: undefined,
    check: false,
    write: false,
  },
  faults.map(({ name }) => name),
)

const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort(new Error('interrupted')))
process.once('SIGTERM', () => interruption.abort(new Error('interrupted')))

const directory = resolve(options.directory ?? (await mkdtemp(join(tmpdir(), 'contract-test-comparison-'))))
try {
  await mkdir(directory, { recursive: true })
  await run(await installedIn(directory))
} catch (error) {
  if (!interruption.signal.aborted) throw error
  process.stderr.write('comparison: interrupted\n')
  process.exitCode = 130
} finally {
  if (options.directory === undefined) await rm(directory, { recursive: true, force: true })
}

async function installedIn(directory: string): Promise<Installed> {
  const found = installed(directory)
  const isThere = await access(join(directory, 'installed')).then(
    () => true,
    () => false,
  )
  return isThere ? found : install(directory)
}

async function run(installed: Installed): Promise<void> {
  const { signal } = interruption
  const chosen = faultsOf(words)
  await writeDocuments(installed)
  await checkFaults(chosen, installed, signal)
  if (options.check) return
  const runs = new Runs(options.directory && join(directory, 'runs.json'))
  await runs.load()
  const tools = await chosenTools(installed)
  await compare({ tools, faults: chosen, installed, isAgain: words.length > 0, signal }, runs, async () => {
    if (options.write) await writeFigures(page, 'the comparison', textOf(runs))
  })
  process.stdout.write(`${textOf(runs)}\n`)
  const { faults: rows, alarms } = comparisonOf(runs.all)
  const hasMissed = rows.some(({ cells }) => cells[contractTestName]?.found.includes(undefined))
  const hasAlarm = (alarms[contractTestName]?.size ?? 0) > 0
  if (hasMissed || hasAlarm) process.exitCode = 1
}

async function chosenTools(installed: Installed): Promise<Tool[]> {
  const { seeds, bound, 'full-seeds': fullSeeds, 'full-seconds': fullSeconds } = options
  const full = ['--checks', 'all', '--continue-on-failure', '--max-time', String(fullSeconds)]
  const modes = {
    default: { name: 'Schemathesis, default', seeds, options: [], seconds: bound },
    // The option bounds the phases; the last test ends a little later.
    full: { name: 'Schemathesis, full', seeds: fullSeeds, options: full, seconds: fullSeconds + 30 },
  }
  const named = options.tools.split(',')
  const tools = named.includes('contract-test') ? [await contractTestTool(seeds)] : []
  for (const [word, mode] of Object.entries(modes)) if (named.includes(word)) tools.push(schemathesis(mode, installed))
  return tools
}

function textOf(runs: Runs): string {
  const { seeds, bound, 'full-seeds': fullSeeds, 'full-seconds': fullSeconds } = options
  const conditions =
    `${new Date().toISOString().slice(0, 10)}, Node.js ${process.versions.node}, ${cpus().length} processors, ` +
    `Schemathesis ${versions.schemathesis}, FastAPI ${versions.fastapi}. Medians of the seeds ${seeds.join(', ')}, and of ` +
    `${fullSeeds.join(', ')} in the full mode, in brackets the spread. A run of the default mode is ended after ${bound} s; ` +
    `what was found until then counts. The full mode repeats its tests for ${fullSeconds} s.`
  return comparisonText(comparisonOf(runs.all), conditions)
}
