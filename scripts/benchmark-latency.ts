import { tmpdir } from 'node:os'
import { commandLine } from '../packages/fastify-contract/src/cli/command-line.ts'
import { selectService } from './benchmark/contenders.ts'
import { firstSecond, formatQuartiles, type LatencyFigures, latencyAt } from './benchmark/latency.ts'
import { peakRate } from './benchmark/measure-contender.ts'
import { moveToLoadCore } from './benchmark/pinning.ts'
import { setting, writeResults } from './benchmark/results.ts'
import { shuffled } from './benchmark/statistics.ts'
import { table } from './benchmark/text-table.ts'
import { withContenders } from './benchmark/with-contenders.ts'

const { options } = commandLine(
  `npm run benchmark:latency [-- --loads 30,50,70] [--peak RATE] [--first 5000] [--rounds 5] [--seconds 20]
                          [--connections 64] [--only NAME] [--before DIRECTORY] [--out DIRECTORY]
                          [--directory DIRECTORY]

Measures the latency of this service at shares of its peak rate, in per cent. NAME is sqlite-log (the default) or
another contender of \`npm run benchmark\` that is this service. The peak is --peak, or else the rate of --connections
connections that each wait for the response before the next request. Requests then arrive by a Poisson process, whether
or not earlier requests have their response. Latency counts from when a request was due, so it includes the wait for a
connection.

"first second" covers all requests that are due in the first second of a new process, at --first requests per second.
The process is ready and has had no request before. Requests that get their response later count, too.

Each round starts a new process for each line, in random order. Prints medians of the rounds with the first and third
quartile in brackets. CPU is user and system time of the server's processes. Writes latency-node-MAJOR.json into --out
(default: nowhere). Exits with 1 after an error. Server and load have a core each. With SQLite and PostgreSQL each
request creates a new plant in --directory (default: the system's directory for temporary files). --before names the
directory of another build of this service, whose NAME is before-sqlite-log and so on. Needs Linux.
`,
  {
    loads: [30, 50, 70],
    peak: 0,
    first: 5_000,
    rounds: 5,
    seconds: 20,
    connections: 64,
    only: 'sqlite-log',
    before: undefined,
    out: undefined,
    directory: tmpdir(),
  },
)
const { loads, first, rounds, seconds, connections, out } = options

type Line = { name: string; rate: number; rounds: LatencyFigures[] }

await withContenders(options, async (all) => {
  moveToLoadCore()
  const contender = selectService(all, options.only)
  const peak = options.peak || Math.round(await peakRate(contender, connections))
  const at = (rate: number) => ({ rate, connections })
  const shares = loads.map((load) => {
    const rate = Math.round((peak * load) / 100)
    return { name: `${load} %`, rate, run: () => latencyAt(contender, seconds, at(rate)), rounds: [] }
  })
  const opening = { name: 'first second', rate: first, run: () => firstSecond(contender, at(first)), rounds: [] }
  const lines: (Line & { run: () => Promise<LatencyFigures> })[] = [...shares, opening]
  for (let round = 1; round <= rounds; round++) {
    for (const line of shuffled(lines)) {
      console.error(`round ${round} of ${rounds}: ${line.name}`)
      line.rounds.push(await line.run())
    }
  }
  const { node, machine, pinned } = setting()
  console.log(`${contender.name}, Node ${node}, ${machine}${pinned ? '' : ', server and load share all cores'}`)
  console.log(
    `peak ${peak}/s; medians (quartiles) of ${rounds} processes, ${seconds} s each, ${connections} connections`,
  )
  print(lines)
  if (out === undefined) return
  const measured = { ...setting(), contender: contender.name, peak, seconds, connections, lines }
  console.log(`wrote ${await writeResults(out, `latency-node-${node.split('.')[0]}`, measured)}`)
})

function print(lines: Line[]): void {
  const head = ['', 'due/s', 'req/s', 'CPU us', 'p50 ms', 'p99 ms', 'p99.9 ms', 'worst ms', 'errors']
  const cells = lines.map(({ name, rate, rounds }) => {
    const of = (figure: keyof LatencyFigures) => rounds.map((round) => round[figure])
    const errors = of('errors').reduce((sum, count) => sum + count, 0)
    if (errors > 0) process.exitCode = 1
    const times = (['p50', 'p99', 'p999', 'max'] as const).map((figure) => formatQuartiles(of(figure), 2))
    return [name, String(rate), formatQuartiles(of('rate'), 0), formatQuartiles(of('cpu'), 1), ...times, String(errors)]
  })
  console.log(table([head, ...cells]))
}
