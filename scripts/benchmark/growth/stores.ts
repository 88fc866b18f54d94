import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundle } from '../../build/bundle.ts'
import { query, startPostgres } from '../../postgres/temporary-postgres.ts'
import { commandLine, oneOf } from '../../system/command-line.ts'
import { table } from '../report.ts'

const { options } = commandLine(
  `.ci/nightly benchmark stores [--plants 10000,1000000,10000000] [--stores NAME,NAME]

Fills each store with plants, and prints a table of what grows with their number: the memory of the process, the bytes
of a plant on the disk, the times of a create and of the start. Ids count up, and then some are random. --stores chooses stores: memory, sqlite, postgres. A
PostgreSQL server is started for it. Cassandra is missing, because it needs a cluster. 10 million plants take 2 GiB of
memory, 2 GiB on the disk and about 10 minutes.
`,
  { plants: [10_000, 1_000_000, 10_000_000], stores: undefined },
)

/** A store that is filled: its URL, and how many bytes it has on the disk; undefined if it keeps nothing there. */
type Filled = { url: string; bytes?: () => Promise<number>; close(): Promise<void> }
type Figures = { start: number; create?: number; loneCreate: number; randomCreate: number; memory: number }

const stores: Record<string, (directory: string) => Promise<Filled>> = {
  memory: async () => ({ url: 'memory:', close: async () => {} }),
  async sqlite(directory) {
    const path = join(directory, 'plants.db')
    return { url: `sqlite:${path}`, bytes: async () => (await stat(path)).size, close: async () => {} }
  },
  async postgres(directory) {
    const server = await startPostgres({ parent: directory })
    const url = server.url()
    const bytes = async () => Number((await query(url, "SELECT pg_total_relation_size('plants') AS bytes"))[0]?.bytes)
    return { url, bytes, close: () => server.close() }
  },
}

/** Opens a store in a new process, and creates the plants with ids from `from` up to `to`. */
async function run(module: string, url: string, from: number, to: number): Promise<Figures> {
  const script = fileURLToPath(new URL('store-process.js', import.meta.url))
  const heap = Math.floor((0.6 * totalmem()) / 2 ** 20)
  const args = ['--expose-gc', `--max-old-space-size=${heap}`, script, module, url, String(from), String(to)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout)
}

/** Measures a store with each number of plants, beginning with an empty one. Returns a row for each number. */
async function rowsOf(name: string, module: string, directory: string): Promise<string[][]> {
  const { url, bytes, close } = await (stores[name] as (directory: string) => Promise<Filled>)(directory)
  const rows: string[][] = []
  let filled = 0
  try {
    for (const plants of options.plants) {
      const filling = await run(module, url, bytes === undefined ? 0 : filled, plants)
      const size = await bytes?.()
      // A process that has only opened the store has no memory left from filling it.
      const opened = bytes === undefined ? filling : await run(module, url, plants, plants)
      filled = plants
      const row = [
        `${name}, ${plants.toLocaleString('en-US')} plants`,
        opened.memory.toFixed(0),
        size === undefined ? '-' : (size / plants).toFixed(0),
        String(filling.create?.toFixed(1)),
        opened.randomCreate.toFixed(1),
        opened.loneCreate.toFixed(3),
        opened.start.toFixed(0),
      ]
      console.error(row.join(' | '))
      rows.push(row)
    }
  } finally {
    await close()
  }
  return rows
}

const only = options.stores?.split(',').map((name) => oneOf('stores', name, Object.keys(stores)))
const built = resolve('dist', 'benchmark', 'stores')
await bundle(built)
const directory = await mkdtemp(join(built, 'data-'))
// The server runs as another user if this one is root.
await chmod(directory, 0o755)
try {
  const heads = ['memory, MiB', 'on disk, bytes a plant', 'create, µs', 'random id, µs', 'lone create, ms', 'start, ms']
  const rows: string[][] = []
  for (const name of only ?? Object.keys(stores)) rows.push(...(await rowsOf(name, join(built, 'store.js'), directory)))
  console.log(`Node ${process.versions.node}\n\n${table([['', ...heads], ...rows])}`)
} finally {
  await rm(directory, { recursive: true })
}
