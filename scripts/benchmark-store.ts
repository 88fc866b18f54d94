import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandLine } from '../packages/fastify-contract/src/cli/command-line.ts'
import { measureGrowth } from './benchmark/store-growth.ts'
import { measureRates } from './benchmark/store-rates.ts'
import { withTemporaryStores } from './benchmark/temporary-stores.ts'

const { options } = commandLine(
  `npm run benchmark:store [-- --rounds 5] [--seconds 2] [--directory DIRECTORY] [--growth]

Measures the creates per second of each store with 1, 64 and 256 in flight, the latency of a create, and the event loop
delay. The load runs in the same process, without HTTP. A store's rate is also printed as a multiple of the rate at
which the same disk syncs appends of 4 KiB, measured in turns with the stores. The PostgreSQL server is
TEST_DATABASE_URL, or one that the command starts in DIRECTORY (default: the system's directory for temporary files).

With --growth, measures how much the rate falls when the store has a million and ten million plants.
`,
  { rounds: 5, seconds: 2, directory: tmpdir(), growth: false },
)

const { rounds, seconds } = options

await withTemporaryStores(options.directory, async ({ directory, postgres }) => {
  let files = 0
  const stores = {
    SQLite: async () => `sqlite:${join(directory, `${++files}.db`)}`,
    PostgreSQL: postgres,
  }
  console.log(`Node ${process.versions.node}, medians of ${rounds} rounds of ${seconds} s, in ${options.directory}`)
  if (options.growth) await measureGrowth(stores, rounds, seconds)
  else {
    const urls = { memory: 'memory:', SQLite: await stores.SQLite(), PostgreSQL: await stores.PostgreSQL() }
    await measureRates(urls, directory, rounds, seconds)
  }
})
