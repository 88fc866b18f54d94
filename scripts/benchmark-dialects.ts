import { tmpdir } from 'node:os'
import { commandLine } from '../packages/fastify-contract/src/cli/command-line.ts'
import { ownDialect, portableDialect } from '../src/store/postgres/postgres-dialects.ts'
import { measureDialects } from './benchmark/dialect-rates.ts'
import { oneStatementDialect } from './benchmark/one-statement-dialect.ts'
import { withTemporaryStores } from './benchmark/temporary-stores.ts'

const { options } = commandLine(
  `npm run benchmark:dialects [-- --rounds 5] [--seconds 2] [--directory DIRECTORY]

Measures the creates per second of PostgreSQL with 1, 64, 256 and 2,048 in flight: in its own SQL dialect, in the
portable dialect for compatible databases, and with one statement that only PostgreSQL supports. Each dialect has its
own database and creates new plants. One process measures the dialects in turns. A ratio is the median of the ratios of
all rounds. The PostgreSQL server is TEST_DATABASE_URL, or one that the command starts in DIRECTORY (default: the
system's directory for temporary files).
`,
  { rounds: 5, seconds: 2, directory: tmpdir() },
)

const { rounds, seconds, directory } = options

await withTemporaryStores(directory, async ({ postgres }) => {
  console.log(`Node ${process.versions.node}, medians of ${rounds} rounds of ${seconds} s, in ${directory}`)
  const dialects = { own: ownDialect, portable: portableDialect, statement: oneStatementDialect }
  await measureDialects(dialects, postgres, rounds, seconds)
})
