import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeFigures } from '../../scripts/benchmark/report.ts'
import { commandLine } from '../../scripts/system/command-line.ts'
import { compare, faultsOf } from './compare.ts'
import { comparisonText } from './comparison-table.ts'
import { contractTestTool } from './contract-test-tool.ts'
import { faults } from './faults.ts'
import { install, versions } from './install.ts'
import { schemathesis } from './schemathesis.ts'
import { writeDocuments } from './services.ts'

const page = 'packages/fastify-contract-cli/docs/contract-test-comparison.md'

const { options, words } = commandLine(
  `.ci/nightly comparison [FAULT...] [--seeds 1,2,3] [--tools NAME,NAME] [--examples 500] [--write]

Plants faults in three services, one by one, and tests each with the contract test of this repository and with
Schemathesis, in its default and its full mode. Prints what each tool found, after how many requests and seconds, and
what it reports of the services without a fault. --tools names some of contract-test, default, full; --examples is the
number of test cases of an operation in the full mode. --write writes the tables to the page. Needs Python 3.10 or
newer, and installs Schemathesis and FastAPI by pip in a temporary directory. Exits with 1 if the contract test misses
a fault, or reports a failure of a service without one.
`,
  { seeds: [1, 2, 3], tools: 'contract-test,default,full', examples: 500, write: false },
  faults.map(({ name }) => name),
)
const directory = await mkdtemp(join(tmpdir(), 'contract-test-comparison-'))
try {
  const installed = install(directory)
  await writeDocuments(installed)
  const full = ['--checks', 'all', '--continue-on-failure', '--max-examples', String(options.examples)]
  const tools = [
    { word: 'contract-test', tool: contractTestTool },
    { word: 'default', tool: schemathesis('Schemathesis, default', installed, []) },
    { word: 'full', tool: schemathesis('Schemathesis, full', installed, full) },
  ].flatMap(({ word, tool }) => (options.tools.split(',').includes(word) ? tool : []))
  const comparison = await compare(tools, faultsOf(words), options.seeds, installed)
  const conditions = `${new Date().toISOString().slice(0, 10)}, Node.js ${process.versions.node}, ${cpus().length} processors, Schemathesis ${versions.schemathesis}, FastAPI ${versions.fastapi}; medians of ${options.seeds.length} seeds, in brackets the spread.`
  const text = comparisonText(comparison, conditions)
  process.stdout.write(`${text}\n`)
  if (options.write) await writeFigures(page, 'the comparison', text)
  const { name } = contractTestTool
  const hasMissed = comparison.faults.some(({ cells }) => cells[name]?.found.includes(undefined))
  const hasAlarm = (comparison.alarms[name]?.size ?? 0) > 0
  if (hasMissed || hasAlarm) process.exitCode = 1
} finally {
  await rm(directory, { recursive: true, force: true })
}
