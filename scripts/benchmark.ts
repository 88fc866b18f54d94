import { spawnSync } from 'node:child_process'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { documentShapes } from 'fastify-contract-test-support/document-shapes'
import { generate, type Installation, implementations, install, removeDatabases } from './benchmark/implementations.ts'
import { wrkVersion } from './benchmark/load.ts'
import { type Results, report, table, writeFigures } from './benchmark/report.ts'
import { groups, measureRound } from './benchmark/shapes.ts'
import { commandLine, oneOf } from './system/command-line.ts'

const { options } = commandLine(
  `.ci/nightly benchmark [--node 20,24] [--quick] [--rounds 5] [--seconds 3] [--only NAME,NAME] [--groups 1,2,3,4,5,6]
                  [--before DIRECTORY] [--write]

Measures this service and other implementations, in all shapes of docs/benchmarks.md, which describes them and the
method: CPU per request, latency, start and first second, and the CPU of generation. Prints tables, and with --write
also replaces the figures of docs/benchmarks.md, which are the ratios. Needs Linux, two cores, taskset of util-linux,
and an otherwise idle machine. The load is wrk, if it is installed, and otherwise this process.

--node names versions of Node, of which the npm package "node" is fetched if necessary; the default is the running one.
--quick is 3 rounds of 1 second, and fewer implementations and schemas. --only chooses implementations:
${Object.keys(implementations).join(', ')}. --groups chooses shapes: 1 is the plant store in memory, 2 with SQLite,
3 to 5 a document with 1, 100 and 500 operations, and 6 generation. --before adds the implementation "before", another
build of this service: a directory with dist/server.js.
`,
  {
    node: process.versions.node.split('.')[0],
    quick: false,
    rounds: 5,
    seconds: 3,
    only: undefined,
    groups: [1, 2, 3, 4, 5, 6],
    before: undefined,
    write: false,
  },
)
const { quick, before, write } = options
const rounds = quick ? 3 : options.rounds
const seconds = quick ? 1 : options.seconds
const only = options.only?.split(',').map((name) => oneOf('only', name, Object.keys(implementations)))

if (spawnSync('taskset', ['-c', '0,1', 'true']).status !== 0) {
  console.error('benchmark: needs Linux, two cores and taskset of util-linux')
  process.exit(1)
}
// This process and the load that it starts use the second core, and the servers the first one.
spawnSync('taskset', ['-a', '-c', '-p', '1', String(process.pid)])

const [first, ...others] = cpus()
const memory = Math.round(totalmem() / 2 ** 30)
const parts = [
  `${first?.model.trim()}, ${others.length + 1} cores, ${memory} GiB, ${type()} ${release()}, ${new Date().toISOString().slice(0, 10)}.
Medians of ${rounds} rounds, ${seconds} s each, ${wrkVersion ?? 'wrk is not installed, so the load is the benchmark itself'}.`,
]
if (quick && only === undefined)
  parts.push(
    'These figures are from `--quick`, so the columns "Fastify, queue", "Fastify, bearer-auth" and "glue" are missing.',
  )
console.log(parts.join('\n\n'))
for (const version of String(options.node).split(',')) {
  const { summary, details } = await measure(version)
  parts.push(...summary)
  console.log(`\n${[...summary, ...details].join('\n\n')}`)
}
if (write) await writeFigures(join('docs', 'benchmarks.md'), parts.join('\n\n'))

/** Measures everything with a version of Node. Returns Markdown for the page, and that which is only printed. */
async function measure(version: string): Promise<{ summary: string[]; details: string[] }> {
  const wanted = groups.filter((_, index) => options.groups.includes(index + 1))
  const documents = wanted.flatMap(({ served }) => (typeof served === 'number' ? [served] : []))
  const installation = await install(version, documents)
  const results: Results = new Map()
  try {
    for (let round = 1; round <= rounds; round++)
      for (const group of wanted) {
        console.error(`Node ${installation.version}, round ${round} of ${rounds}: ${group.served}`)
        await measureRound(group, installation, { seconds, quick, only, before }, results)
      }
  } finally {
    await removeDatabases(installation)
  }
  const generation = options.groups.includes(groups.length + 1) ? [await generationTable(installation)] : []
  const { summary, details } = report(results)
  return { summary: [`### Node ${installation.version}`, ...summary, ...generation], details }
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
