import { cpus, tmpdir } from 'node:os'
import { type Figures, measure } from './benchmark/measure-contender.ts'
import { machine } from './benchmark/results.ts'
import { median, medianRatio, shuffled } from './benchmark/statistics.ts'
import { table } from './benchmark/text-table.ts'
import { withContenders } from './benchmark/with-contenders.ts'
import { commandLine } from './system/command-line.ts'

const { options } = commandLine(
  `npm run benchmark:workers [-- --workers 1,2] [--rounds 6] [--seconds 5] [--connections 64] [--directory DIRECTORY]

Measures requests per second, CPU per request of all the service's processes, and latency, for each value of WORKERS.
Each request creates a new plant in PostgreSQL. Each round starts a new service for each value, in random order. Prints
medians of the rounds, and medians of each round's own ratios to the first value.

Nothing is pinned to a core: the workers, PostgreSQL and the load, which is one process, share all cores. If there are
no more cores than workers, PostgreSQL and the load limit what more workers gain; the table shows the cores that the
load used. The PostgreSQL server is TEST_DATABASE_URL, or one that the command starts in DIRECTORY (default: the
system's directory for temporary files). Needs Linux.
`,
  {
    workers: [1, 2],
    rounds: 6,
    seconds: 5,
    connections: 64,
    directory: tmpdir(),
  },
)
const { workers: numbers, rounds, seconds, connections } = options

/** `load` is the average number of cores that this process, the load generator, used while the service ran. */
type Round = Figures & { load: number }

await withContenders(options, async ({ postgres }) => {
  if (postgres === undefined) throw new Error('the contenders have no service with PostgreSQL')
  const figures = new Map(numbers.map((workers) => [workers, [] as Round[]]))
  for (let round = 1; round <= rounds; round++) {
    for (const workers of shuffled(numbers)) {
      console.error(`round ${round} of ${rounds}: ${workers} workers`)
      const [start, before] = [performance.now(), process.cpuUsage()]
      const measured = await measure({ ...postgres, workers }, { seconds, connections, pinned: false })
      const { user, system } = process.cpuUsage(before)
      figures.get(workers)?.push({ ...measured, load: (user + system) / 1_000 / (performance.now() - start) })
    }
  }
  print(figures)
})

function print(figures: Map<number, Round[]>): void {
  console.log(`Node ${process.versions.node}, ${machine()}`)
  console.log(`${cpus().length} cores are shared by the workers, PostgreSQL and the load, without pinning`)
  console.log(`medians of ${rounds} rounds, ${seconds} s each, ${connections} connections`)
  const [reference = []] = figures.values()
  const lines = Array.from(figures, ([workers, each]) => {
    const of = (figure: keyof Round) => each.map((round) => round[figure])
    const ratio = (figure: keyof Round) =>
      medianRatio(
        of(figure),
        reference.map((round) => round[figure]),
      ).toFixed(2)
    const middle = (figure: keyof Round, digits: number) => median(of(figure)).toFixed(digits)
    const errors = of('errors').reduce((sum, count) => sum + count, 0)
    if (errors > 0) process.exitCode = 1
    return [
      String(workers),
      ...[middle('rate', 0), ratio('rate'), middle('cpu', 1), ratio('cpu')],
      ...[middle('p50', 2), middle('p99', 2), middle('busy', 2), middle('load', 2), String(errors)],
    ]
  })
  const head = ['workers', 'req/s', 'ratio', 'CPU us', 'ratio', 'p50 ms', 'p99 ms', 'cores', 'of the load', 'errors']
  console.log(table([head, ...lines]))
}
