import type { Dialect } from './postgres-dialect.ts'
import { ownDialect } from './postgres-own-dialect.ts'
import { portableDialect } from './postgres-portable-dialect.ts'
import type { Primary } from './postgres-primary.ts'

/**
 * PostgreSQL itself, or a build of it by another vendor, such as AlloyDB. YugabyteDB says `PostgreSQL 15.2-YB-2.25…`,
 * CockroachDB its own name, and PGAdapter before Spanner `PostgreSQL 14.1`, without a compiler.
 */
const postgres = /^PostgreSQL \d+(?:\.\d+|beta\d+|rc\d+|devel)*[ ,].*compiled by /

/**
 * Returns the dialect for the server. The own statement of PostgreSQL needs one round trip where the portable ones need
 * two for plants that were there, and its speed does not depend on the number of parameters; `npm run benchmark:dialects`
 * measures both. It also locks what was there, for the sake of synchronous standbys. Other engines refuse parts of it
 * (docs/distributed-sql.md), and an engine that is not known yet is more likely to take the portable statements.
 */
export async function chooseDialect(query: Primary['query']): Promise<Dialect> {
  const [row] = await query<{ version: string }>('SELECT version()')
  return postgres.test(String(row?.version)) ? ownDialect : portableDialect
}
