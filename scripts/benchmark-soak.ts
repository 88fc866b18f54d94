import { tmpdir } from 'node:os'
import { commandLine } from '../packages/fastify-contract/src/cli/command-line.ts'
import { evenGaps } from './benchmark/arrivals.ts'
import { startServer, token } from './benchmark/contender-process.ts'
import { selectService } from './benchmark/contenders.ts'
import { watchDisk } from './benchmark/disk-sync-times.ts'
import { openLoad } from './benchmark/http-load.ts'
import { idsFor, peakRate } from './benchmark/measure-contender.ts'
import { moveToLoadCore } from './benchmark/pinning.ts'
import { machine } from './benchmark/results.ts'
import { type Minute, watch } from './benchmark/soak.ts'
import { slope } from './benchmark/statistics.ts'
import { withContenders } from './benchmark/with-contenders.ts'

const { options } = commandLine(
  `npm run benchmark:soak [-- --minutes 30] [--load 0.7] [--connections 64] [--only NAME] [--directory DIRECTORY]

Measures the peak rate of this service in requests per second. Then sends the share --load of that rate to a new
process, evenly spaced. Latency counts from when a request was due. NAME is sqlite-log (the default) or another
contender of \`npm run benchmark\` that is this service.

Prints a line per minute. Its last column is the slowest sync of a separate file next to the store, which shows whether
the disk caused a slow minute. At the end, prints the growth of memory and heap in bytes per hour, by least squares
without the first fifth of the time as warm-up. Exits with 1 after an error.

Server and load have a core each. With SQLite and PostgreSQL each request creates a new plant in DIRECTORY (default:
the system's directory for temporary files): about a gigabyte in 30 minutes. Needs Linux.
`,
  {
    minutes: 30,
    load: 0.7,
    connections: 64,
    only: 'sqlite-log',
    directory: tmpdir(),
  },
)
const { minutes, connections } = options

await withContenders(options, async (all) => {
  moveToLoadCore()
  const contender = selectService(all, options.only)
  console.log(`${contender.name}, Node ${process.versions.node}, ${machine()}`)
  const peak = await peakRate(contender, connections)
  const rate = options.load * peak
  console.log(`${peak.toFixed(0)} requests/s at most; now ${rate.toFixed(0)} for ${minutes} minutes`)
  const server = await startServer(contender, { pinned: true })
  const disk = await watchDisk(options.directory)
  const load = openLoad({ port: server.port, token, connections, ids: idsFor(contender), gap: evenGaps(rate) })
  try {
    report(await watch(server, load, disk, minutes))
  } finally {
    load.close()
    await disk.close()
    await server.stop()
  }
})

function report(watched: Minute[]): void {
  const growth = (figure: 'memory' | 'heap') => {
    const points = watched.map((minute, index): [number, number] => [index / 60, minute[figure]])
    return slope(points.slice(Math.floor(watched.length / 5))).toFixed(0)
  }
  console.log(`bytes an hour: resident memory ${growth('memory')}, heap ${growth('heap')}`)
  const errors = watched.reduce((sum, minute) => sum + minute.errors, 0)
  console.log(`${errors} errors`)
  if (errors > 0) process.exitCode = 1
}
