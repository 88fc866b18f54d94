import { spawnSync } from 'node:child_process'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { documentShapes } from 'fastify-contract-test-support/document-shapes'
import { installCommands } from './benchmark/commands/installation.ts'
import { measureCommands } from './benchmark/commands/measure.ts'
import { inBoth, ratiosOf, setbacks } from './benchmark/commands/ratios.ts'
import { commandTable, committedRatios, writeRatios } from './benchmark/commands/report.ts'
import {
  generate,
  type Installation,
  implementations,
  installationFor,
  installServers,
  removeDatabases,
} from './benchmark/implementations.ts'
import { wrkVersion } from './benchmark/load.ts'
import { type Results, report, table, writeFigures } from './benchmark/report.ts'
import { groups, measureRound } from './benchmark/shapes.ts'
import { QuietSlices } from './benchmark/steal.ts'
import { commandLine, oneOf } from './system/command-line.ts'

const { options } = commandLine(
  `.ci/nightly benchmark [--node 20,24] [--quick] [--rounds 5] [--seconds 3] [--only NAME,NAME] [--groups 1,2,3,4,5,6,7]
                  [--document FILE] [--before DIRECTORY] [--check] [--write]

Measures this service and other implementations, in all shapes of docs/benchmarks.md, which describes them and the
method: CPU per request, latency, start and first second, and the time, CPU and memory of the commands. Prints tables,
and with --write also replaces the figures of docs/benchmarks.md and the ratios with which --check compares. Needs
Linux, two cores, taskset of util-linux, and an otherwise idle machine. The load is wrk, if it is installed, and
otherwise this process.

--node names versions of Node, of which the npm package "node" is fetched if necessary; the default is the running one.
--quick is 3 rounds of 1 second, and fewer implementations, schemas and documents. --only chooses implementations:
${Object.keys(implementations).join(', ')}. --groups chooses shapes: 1 is the plant store in memory, 2 with SQLite,
3 to 5 a document with 1, 100 and 500 operations, 6 generation for documents of a shape, and 7 the commands with public
documents, or that of --document, beside openapi-typescript. --before adds the implementation "before", another build of
this service: a directory with dist/server.js. --check exits with 1 if a ratio of group 7 is a third worse, twice, than
the last one that was written.
`,
  {
    node: process.versions.node.split('.')[0],
    quick: false,
    rounds: 5,
    seconds: 3,
    only: undefined,
    groups: [1, 2, 3, 4, 5, 6, 7],
    document: undefined,
    before: undefined,
    check: false,
    write: false,
  },
)
const { quick, before, document } = options
const rounds = quick ? 3 : options.rounds
const seconds = quick ? 1 : options.seconds
const only = options.only?.split(',').map((name) => oneOf('only', name, Object.keys(implementations)))
const wanted = groups.filter((_, index) => options.groups.includes(index + 1))
const [hasShapes, hasCommands] = [1, 2].map((place) => options.groups.includes(groups.length + place))

if (options.check && (quick || document !== undefined || !hasCommands)) {
  console.error(
    'benchmark: --check compares all rows of group 7; leave out --quick and --document, and do not exclude it',
  )
  process.exit(2)
}
if (spawnSync('taskset', ['-c', '0,1', 'true']).status !== 0) {
  console.error('benchmark: needs Linux, two cores and taskset of util-linux')
  process.exit(1)
}
// This process and the load that it starts use the second core, and the servers the first one.
spawnSync('taskset', ['-a', '-c', '-p', '1', String(process.pid)])

const slices = new QuietSlices()
const servers: string[] = []
const commands: string[] = []
for (const wantedVersion of String(options.node).split(',')) {
  const installation = await installationFor(wantedVersion)
  const title = `### Node ${installation.version}`
  if (wanted.length > 0 || hasShapes) {
    const { summary, details } = await measureServers(installation)
    servers.push(title, ...summary)
    console.log(`\n${[title, ...summary, ...details].join('\n\n')}`)
  }
  if (hasCommands) {
    const text = await measureWithCommands(installation)
    commands.push(title, text)
    console.log(`\n${title}\n\n${text}`)
  }
}
const machine = machineText()
console.log(`\n${machine}\n\n${slices.summary}`)
if (options.write) {
  const page = join('docs', 'benchmarks.md')
  const load = `${seconds} s each, ${wrkVersion ?? 'wrk is not installed, so the load is the benchmark itself'}.`
  if (servers.length > 0)
    await writeFigures(page, 'the figures', [`${machine}, ${load} ${slices.summary}`, ...servers].join('\n\n'))
  if (commands.length > 0 && document === undefined)
    await writeFigures(page, 'the figures of the commands', [`${machine}. ${slices.summary}`, ...commands].join('\n\n'))
}

function machineText(): string {
  const [first, ...others] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  const system = `${others.length + 1} cores, ${memory} GiB, ${type()} ${release()}`
  return `${first?.model.trim()}, ${system}, ${new Date().toISOString().slice(0, 10)}.\nMedians of ${rounds} rounds`
}

/** Measures all servers with a version of Node. Returns Markdown for the page, and that which is only printed. */
async function measureServers(installation: Installation): Promise<{ summary: string[]; details: string[] }> {
  const documents = wanted.flatMap(({ served }) => (typeof served === 'number' ? [served] : []))
  await installServers(installation, documents)
  const results: Results = new Map()
  try {
    for (let round = 1; round <= rounds; round++)
      for (const group of wanted) {
        console.error(`Node ${installation.version}, round ${round} of ${rounds}: ${group.served}`)
        await measureRound(group, installation, { seconds, quick, only, before, slices }, results)
      }
  } finally {
    await removeDatabases(installation)
  }
  const generation = hasShapes ? [await generationTable(installation)] : []
  const { summary, details } = report(results)
  const lacking = quick && only === undefined && wanted.length > 0 ? [quickly] : []
  return { summary: [...lacking, ...summary, ...generation], details }
}

const quickly =
  'These figures are from `--quick`, so the columns "Fastify, queue", "Fastify, bearer-auth" and "glue" are missing.'

/** Measures the commands with a version of Node. Returns a table, and compares it with the committed ratios. */
async function measureWithCommands({ env, version }: Installation): Promise<string> {
  const installed = await installCommands()
  const measured = () => measureCommands(installed, { rounds, quick, document, env, slices })
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
  return `CPU of \`npm run generate\`, in seconds:\n\n${table([head, ...rows])}`
}
