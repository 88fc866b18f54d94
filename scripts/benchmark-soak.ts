import { tmpdir } from 'node:os'
import { evenGaps } from './benchmark/arrivals.ts'
import { startServer, token } from './benchmark/contender-process.ts'
import { oneService } from './benchmark/contenders.ts'
import { watchDisk } from './benchmark/disk-syncs.ts'
import { openLoad } from './benchmark/http-load.ts'
import { idsFor, peakRate } from './benchmark/measure-contender.ts'
import { moveToLoadCore } from './benchmark/pinning.ts'
import { machine } from './benchmark/results.ts'
import { type Minute, watch } from './benchmark/soak.ts'
import { slope } from './benchmark/statistics.ts'
import { withContenders } from './benchmark/with-contenders.ts'
import { commandLine } from './system/command-line.ts'

const { options } = commandLine(
  `npm run benchmark:soak [-- --minutes 30] [--load 0.7] [--connections 64] [--only NAME] [--directory DIRECTORY]

Finds how many requests a second this service answers (NAME: sqlite-log, as it is by default, or another one of \`npm
run benchmark\`), then sends that share of it to a new process, at even times; latency is from when a request was due.
Prints a line a minute, with the slowest sync of a file of its own beside the store, which tells the disk's share of a
slow minute; at the end by how many bytes an hour memory and heap grow, by least squares after a fifth of the time as
warm-up. Exit 1 when there was an error. Server and load have a core each. SQLite and PostgreSQL get a new plant with
each request, and keep it in DIRECTORY (default: that of the system for temporary files), about a gigabyte in 30
minutes. Needs Linux.
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
  const contender = oneService(all, options.only)
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
