import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandLine, oneOf } from '../packages/fastify-contract/src/cli/command-line.ts'
import { chart } from './benchmark/chart.ts'
import { selectContenders } from './benchmark/contenders.ts'
import { type Figures, generators, measure } from './benchmark/measure-contender.ts'
import { moveToLoadCore } from './benchmark/pinning.ts'
import { type Results, summarize, writeResults } from './benchmark/results.ts'
import { shuffled } from './benchmark/statistics.ts'
import { table } from './benchmark/text-table.ts'
import { withContenders } from './benchmark/with-contenders.ts'
import { wrkVersion } from './benchmark/wrk.ts'

const { options } = commandLine(
  `npm run benchmark [-- --rounds 6] [--seconds 5] [--connections 64] [--only NAME,NAME] [--generator wrk]
                  [--before DIRECTORY] [--out DIRECTORY] [--directory DIRECTORY]

Measures CPU per request, requests per second and latency of this service and of other ways to build it. All contenders
do the same work: verify a bearer token, parse and validate a body, reject invalid requests, store the plant and return
it. The command first checks that each process does so. This service's figures include what only this service does:
exact integers, I-JSON, limits, request ids and metrics. Writes node-MAJOR.json and node-MAJOR.svg (with wrk
node-MAJOR-wrk) into --out (default: scripts/benchmark/results, with --only nowhere). Needs Linux.

Each round starts a new process of each contender, in random order: two processes of the same code can differ by 8 %.
Figures are medians of the rounds; q1 and q3 are the quartiles of CPU. Ratios are medians of each round's own ratios of
CPU; more is better. CPU is user and system time of the server's processes, as the kernel counts it. --before names the
directory of another build of this service, made by \`npm run build\` there; its contenders are before-memory and so on.

Server and load have a core each. The load is this process: each connection has one request in flight, and sends the
next one after the load has checked status and body of the response. The load needs half of a core for the fastest
server and never sleeps, because waking it would cost the server up to a sixth of a request. With --generator wrk the
load is wrk with one thread, in a new process for the warm-up and for the measurement. It sends the same bytes, checks
only the status of each response, and sleeps while it has none. A server that is less than 100 % "busy" has "waited"
for its core, because of other processes or its own threads, or else for its disk or database. Access logs go to
/dev/null.

In memory, the same 10,000 plants are created again and again, so that each response is a 200 and no Map grows. With
SQLite and PostgreSQL each request creates a new plant, so that each waits for the disk of --directory (default: the
system's directory for temporary files), and each process starts with an empty database. The PostgreSQL server is
TEST_DATABASE_URL, or one that the command starts on the load's core. The load then sleeps between its requests; the
CPU of PostgreSQL is not counted.
`,
  {
    rounds: 6,
    seconds: 5,
    connections: 64,
    only: undefined,
    generator: 'node',
    before: undefined,
    directory: tmpdir(),
    out: undefined,
  },
)
const { rounds, seconds, connections } = options
const generator = oneOf('generator', options.generator, generators)
const generatorName = generator === 'wrk' ? wrkVersion() : 'node'
if (generatorName === undefined) {
  console.error('benchmark: wrk is not installed; install it (apt-get install wrk) or leave out --generator wrk')
  process.exit(1)
}
const out = options.out ?? (options.only === undefined ? join('scripts', 'benchmark', 'results') : undefined)

await withContenders(options, async (all) => {
  moveToLoadCore()
  const contenders = Object.entries(selectContenders(all, options.only))
  const figures = new Map(contenders.map(([key]) => [key, [] as Figures[]]))
  for (let round = 1; round <= rounds; round++) {
    for (const [key, contender] of shuffled(contenders)) {
      console.error(`round ${round} of ${rounds}: ${contender.name}`)
      figures.get(key)?.push(await measure(contender, { seconds, connections, generator }))
    }
  }
  const nameOf = (key: string) => (all[key] as { name: string }).name
  const results = summarize(figures, nameOf, { seconds, connections, generator: generatorName })
  print(results)
  if (out !== undefined) await write(results, out)
})

function print({ node, machine, pinned, generator, contenders }: Results): void {
  console.log(`Node ${node}, ${machine}${pinned ? '' : ', server and load share all cores'}`)
  console.log(
    `medians of ${rounds} processes, ${seconds} s each, ${connections} connections, ${generator}; ratios are of CPU`,
  )
  const ratios = ['to http', 'to Fastify', 'to before']
  const head = ['', 'req/s', 'CPU us', 'q1', 'q3', 'p50 ms', 'p99 ms', ...ratios, 'busy', 'waited']
  const lines = contenders.map(({ name, rate, cpu, cpuQuartiles, p50, p99, busy, waited, ...to }) => [
    name,
    rate.toFixed(0),
    ...[cpu, ...cpuQuartiles].map((each) => each.toFixed(1)),
    ...[p50, p99, to.toNodeHttp, to.toFastify, to.toBefore].map((each) => each?.toFixed(2) ?? '-'),
    ...[busy, waited].map((each) => `${(100 * each).toFixed(0)} %`),
  ])
  console.log(table([head, ...lines]))
  for (const { name, errors } of contenders) {
    if (errors === 0) continue
    console.error(`${name}: ${errors} errors`)
    process.exitCode = 1
  }
}

async function write(results: Results, directory: string): Promise<void> {
  const name = `node-${results.node.split('.')[0]}${generator === 'wrk' ? '-wrk' : ''}`
  const written = await writeResults(directory, name, results)
  const drawing = join(directory, `${name}.svg`)
  await writeFile(drawing, chart(results))
  console.log(`wrote ${written}, ${drawing}`)
}
