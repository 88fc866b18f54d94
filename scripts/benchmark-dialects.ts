import { tmpdir } from 'node:os'
import { ownDialect } from '../src/store/postgres-own-dialect.ts'
import { portableDialect } from '../src/store/postgres-portable-dialect.ts'
import { measureDialects } from './benchmark/dialect-rates.ts'
import { oneStatementDialect } from './benchmark/one-statement-dialect.ts'
import { withTemporaryStores } from './benchmark/temporary-stores.ts'
import { commandLine } from './system/command-line.ts'

const { options } = commandLine(
  `npm run benchmark:dialects [-- --rounds 5] [--seconds 2] [--directory DIRECTORY]

Measures how many creates a second PostgreSQL takes with 1, 64, 256 and 2,048 in flight in its own dialect, in the
portable one, which other engines get, and by one statement that only PostgreSQL supports. Each has a database of its
own and new plants; they are measured in turns in one process. A ratio is the median of those of the rounds. PostgreSQL
is the server of TEST_DATABASE_URL, or one that is started in DIRECTORY (default: that of the system for temporary
files).
`,
  { rounds: 5, seconds: 2, directory: tmpdir() },
)

const { rounds, seconds, directory } = options

await withTemporaryStores(directory, async ({ postgres }) => {
  console.log(`Node ${process.versions.node}, medians of ${rounds} rounds of ${seconds} s, in ${directory}`)
  const dialects = { own: ownDialect, portable: portableDialect, statement: oneStatementDialect }
  await measureDialects(dialects, postgres, rounds, seconds)
})
