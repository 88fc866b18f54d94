import { spawnSync } from 'node:child_process'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { documentShapes } from 'fastify-contract-test-support/document-shapes'
import { installCommands } from './benchmark/commands/installation.ts'
import { measureCommands } from './benchmark/commands/measure.ts'
import { inBoth, ratiosOf, setbacks } from './benchmark/commands/ratios.ts'
import { commandTable, committedRatios, writeRatios } from './benchmark/commands/report.ts'
import { groupNames, measureGroup, ofOneNode } from './benchmark/groups.ts'
import { generate, type Installation, implementations, installationFor } from './benchmark/implementations.ts'
import { wrkVersion } from './benchmark/load.ts'
import { page, partsOf } from './benchmark/page.ts'
import { type Published, publish, readPublished } from './benchmark/published.ts'
import { table, writeFigures } from './benchmark/report.ts'
import { QuietSlices, sliceText } from './benchmark/steal.ts'
import { commandLine, oneOf } from './system/command-line.ts'

const allGroups = [...groupNames, 'schemas', 'commands']

const { options } = commandLine(
  `.ci/nightly benchmark [--node 24,20,26] [--quick] [--rounds 5] [--seconds 1] [--only NAME,NAME] [--groups NAME,NAME]
                  [--document FILE] [--before DIRECTORY] [--check] [--write] [--page]

Measures this service beside Fastify by hand and other implementations, and the commands beside openapi-typescript, as
docs/benchmarks.md describes. Prints tables, and with --write also replaces the figures of that page. Needs Linux, two
cores, taskset of util-linux, and an otherwise idle machine. The load is wrk, if it is installed, and otherwise this
process.

--node names versions of Node, of which the npm package "node" is fetched if necessary; the default is the running one.
--quick is one round, with fewer schemas and documents. --only chooses implementations:
${Object.keys(implementations).join(', ')}.
--groups chooses what is measured; the default is everything:
memory, sqlite: the plant store
operations: documents with 1 and 500 operations
peers: all implementations; this group and growth are measured with the first version of Node
growth: more and more operations and connections
schemas: generation for documents of a shape
commands: the commands with public documents, or that of --document
--before adds the implementation "before", another build of this service: a directory with dist/server.js. --check exits
with 1 if a ratio of the group commands is a third worse, twice, than the last one that was written. --page only writes
docs/benchmarks.md again from the figures that were written last, and measures nothing.
`,
  {
    node: process.versions.node.split('.')[0],
    quick: false,
    rounds: 5,
    seconds: 1,
    only: undefined,
    groups: allGroups.join(),
    document: undefined,
    before: undefined,
    check: false,
    write: false,
    page: false,
  },
)
const { quick, before, document, seconds } = options
const rounds = quick ? 1 : options.rounds
const only = options.only?.split(',').map((name) => oneOf('only', name, Object.keys(implementations)))
const wanted = String(options.groups)
  .split(',')
  .map((name) => oneOf('groups', name, allGroups))

if (options.check && (quick || document !== undefined || !wanted.includes('commands'))) {
  console.error(
    'benchmark: --check compares all rows of the group commands; leave out --quick and --document, and do not exclude it',
  )
  process.exit(2)
}
if (options.page) {
  await writePage(await readPublished())
  process.exit()
}
if (spawnSync('taskset', ['-c', '0,1', 'true']).status !== 0) {
  console.error('benchmark: needs Linux, two cores and taskset of util-linux')
  process.exit(1)
}
// This process and the load that it starts use the second core, and the servers the first one.
spawnSync('taskset', ['-a', '-c', '-p', '1', String(process.pid)])

const conditions = conditionsText()
const slices = new QuietSlices()
const schemas: string[] = []
const commands: string[] = []
for (const [index, version] of String(options.node).split(',').entries()) {
  const installation = await installationFor(version)
  for (const group of groupNames)
    if (wanted.includes(group) && (index === 0 || !ofOneNode.includes(group))) await measureServers(group, installation)
  const title = `### Node ${installation.version}`
  if (wanted.includes('schemas')) schemas.push(title, await generationTable(installation))
  if (wanted.includes('commands')) commands.push(title, await measureWithCommands(installation))
}
for (const text of [...schemas, ...commands, conditions, ...(commands.length > 0 ? [sliceText([slices.counts])] : [])])
  console.log(`\n${text}`)
if (options.write && document === undefined) {
  const commandPage = join('docs', 'command-benchmarks.md')
  if (schemas.length > 0) await writeFigures(commandPage, 'the figures of schemas', schemas.join('\n\n'))
  if (commands.length > 0) {
    const measured = `${conditions}\n${sliceText([slices.counts])}`
    await writeFigures(commandPage, 'the figures of the commands', [measured, ...commands].join('\n\n'))
  }
}

/** Returns the machine, the day, and what was measured how often. */
function conditionsText(): string {
  const [first, ...others] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  const system = `${others.length + 1} cores, ${memory} GiB, ${type()} ${release()}`
  const day = new Date().toISOString().slice(0, 10)
  const load = wrkVersion ?? 'the benchmark itself'
  return `${first?.model.trim()}, ${system}, ${day}. ${rounds} rounds of ${seconds} s for each row; the load is ${load}.`
}

/** Measures a group with a version of Node, and replaces its figures of the page with --write. */
async function measureServers(group: string, installation: Installation): Promise<void> {
  const run = await measureGroup(group, installation, { seconds, only, before }, rounds)
  // After each group, so that an interrupted run keeps what it has measured.
  if (options.write) await writePage(await publish(group, { ...run, conditions }))
}

async function writePage(published: Published): Promise<void> {
  for (const [part, text] of Object.entries(partsOf(published))) await writeFigures(page, part, text)
}

/** Measures the commands with a version of Node. Returns a table, and compares it with the committed ratios. */
async function measureWithCommands({ env, version }: Installation): Promise<string> {
  const installed = await installCommands()
  const measured = () => measureCommands(installed, { rounds: quick ? 3 : rounds, quick, document, env, slices })
  const pairs = await measured()
  if (options.write && document === undefined) await writeRatios(version, ratiosOf(pairs))
  if (options.check) {
    const committed = await committedRatios(version)
    const compare = (ratios: ReturnType<typeof ratiosOf>) => setbacks(committed, ratios, slices.isNoisy)
    const first = compare(ratiosOf(pairs))
    // Two measurements differ more on a machine with other work.
    const problems = first.length === 0 ? [] : inBoth(first, compare(ratiosOf(await measured())))
    for (const problem of problems) console.error(problem)
    if (problems.length > 0) process.exitCode = 1
  }
  return commandTable(pairs)
}

async function generationTable({ env, directory }: Installation): Promise<string> {
  const counts = quick ? [100] : [100, 1_000, 10_000]
  const rows: string[][] = []
  for (const [shape, documentWith] of Object.entries(documentShapes)) {
    const cells: string[] = []
    for (const count of counts) {
      console.error(`generation: ${shape}, ${count}`)
      const { status, seconds } = await generate(documentWith(count), join(directory, 'generation'), env)
      cells.push(status === 0 ? seconds.toFixed(1) : 'rejected')
    }
    rows.push([shape, ...cells])
  }
  const head = ['', ...counts.map((count) => `${count.toLocaleString('en-US')} schemas`)]
  return table([head, ...rows])
}
