import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandLine } from '../packages/fastify-contract/src/cli/command-line.ts'
import { startServer } from './benchmark/contender-process.ts'
import { type Contender, selectContenders } from './benchmark/contenders.ts'
import { machine } from './benchmark/results.ts'
import { median, medianRatio, shuffled } from './benchmark/statistics.ts'
import { table } from './benchmark/text-table.ts'
import { withContenders } from './benchmark/with-contenders.ts'

const { options } = commandLine(
  `npm run benchmark:start [-- --rounds 15] [--only NAME,NAME] [--directory DIRECTORY]

Measures the time from spawn to the first response, in milliseconds, and the resident memory a second later, of this
service and of its peers, in turns and on all cores. Prints medians and their ratio to handwritten Fastify in the same
round. SQLite stores its file in DIRECTORY (default: the system's directory for temporary files). Needs Linux.
`,
  { rounds: 15, only: undefined, directory: tmpdir() },
)
const { rounds } = options

type Figures = { time: number; memory: number }

await withContenders(options, async (all) => {
  // Leaves out the variants with an access log, which writes nothing before the first request, and those with
  // PostgreSQL, whose server process is not measured.
  const alone = Object.fromEntries(Object.entries(all).filter(([key]) => !/log|postgres/.test(key)))
  const contenders = Object.entries(selectContenders(alone, options.only))
  const figures = new Map(contenders.map(([key]) => [key, [] as Figures[]]))
  for (let round = 0; round < rounds; round++) {
    for (const [key, contender] of shuffled(contenders)) figures.get(key)?.push(await start(contender))
  }
  console.log(`Node ${process.versions.node}, ${machine()}, medians of ${rounds} rounds`)
  const reference = figures.get('fastify')
  const lines = contenders.map(([key, { name }]) => {
    const cells = (figure: keyof Figures, unit: number) => {
      const of = (rounds: Figures[]) => rounds.map((round) => round[figure])
      const own = of(figures.get(key) as Figures[])
      return [
        (median(own) / unit).toFixed(0),
        reference === undefined ? '-' : medianRatio(own, of(reference)).toFixed(2),
      ]
    }
    return [name, ...cells('time', 1), ...cells('memory', 2 ** 20)]
  })
  console.log(table([['', 'ms', 'to Fastify', 'RSS MiB', 'to Fastify'], ...lines]))
})

async function start(contender: Contender): Promise<Figures> {
  const server = await startServer(contender, { pinned: false })
  try {
    await sleep(1_000)
    return { time: server.startTime, memory: server.memory() }
  } finally {
    await server.stop()
  }
}
