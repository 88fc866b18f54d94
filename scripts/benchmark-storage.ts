import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandLine } from '../packages/fastify-contract/src/cli/command-line.ts'
import { measureStorage } from './benchmark/measure-storage.ts'
import { postgresBytes, sqliteBytes } from './benchmark/stored-bytes.ts'
import { withTemporaryStores } from './benchmark/temporary-stores.ts'

const { options, words } = commandLine(
  `npm run benchmark:storage [-- [sqlite] [postgres] [--plants 1000000] [--rounds 5] [--directory DIRECTORY]]

Measures the storage cost of plants in each store, with sequential and with random ids, for each number in --plants:
bytes of a row with its index, bytes that a create adds to the write-ahead log, and creates per second. A plant has a
name of 18 characters and a tag of 6.

The log is measured while the store is filled, with 4,096 creates in flight, and after a checkpoint, with 256 and with 1
in flight: after a checkpoint PostgreSQL logs each changed page once as a whole. A rate covers up to 20,000 creates. The
PostgreSQL server is TEST_DATABASE_URL, which nothing else may use at the same time, or one with default settings that
the command starts in DIRECTORY (default: the system's directory for temporary files).
`,
  { plants: [1_000_000], rounds: 5, directory: tmpdir() },
  ['sqlite', 'postgres'],
)
const { plants, rounds } = options

await withTemporaryStores(options.directory, async ({ directory, postgres }) => {
  let files = 0
  const kinds = {
    sqlite: async () => {
      const path = join(directory, `${++files}.db`)
      return { url: `sqlite:${path}`, measure: () => sqliteBytes(path) }
    },
    postgres: async () => {
      const url = await postgres()
      return { url, measure: () => postgresBytes(url) }
    },
  }
  console.log(`Node ${process.versions.node}, medians of ${rounds} rounds, in ${options.directory}`)
  const chosen = Object.entries(kinds).filter(([kind]) => words.length === 0 || words.includes(kind))
  await measureStorage(Object.fromEntries(chosen), plants, rounds)
})
