/**
 * npm run benchmark:store [-- --rounds 5] [--seconds 2] [--directory DIRECTORY] [--growth]
 *
 * How many creates a second each store takes with 1, 64 and 256 in flight, how long one takes, and how late the event
 * loop is meanwhile; the load runs in the same process, without HTTP. A store's rate is also given as a multiple of the
 * rate at which the same disk syncs appends of 4 KiB, measured in turns with the stores. PostgreSQL is the server of
 * TEST_DATABASE_URL, or one that is started in DIRECTORY (default: that of the system for temporary files).
 *
 * With --growth: how the rate falls when the store has a million and ten million plants.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureGrowth } from './benchmark/store-growth.ts'
import { measureRates } from './benchmark/store-rates.ts'
import { withTemporaryStores } from './benchmark/temporary-stores.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    directory: { type: 'string', default: tmpdir() },
    growth: { type: 'boolean', default: false },
  },
})

const rounds = Number(values.rounds)
const seconds = Number(values.seconds)

await withTemporaryStores(values.directory, async ({ directory, postgres }) => {
  let files = 0
  const stores = {
    SQLite: async () => `sqlite:${join(directory, `${++files}.db`)}`,
    PostgreSQL: postgres,
  }
  console.log(`Node ${process.versions.node}, medians of ${rounds} rounds of ${seconds} s, in ${values.directory}`)
  if (values.growth) await measureGrowth(stores, rounds, seconds)
  else {
    const urls = { memory: 'memory:', SQLite: await stores.SQLite(), PostgreSQL: await stores.PostgreSQL() }
    await measureRates(urls, directory, rounds, seconds)
  }
})
