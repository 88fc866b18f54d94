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
 * Returns the dialect for the server. PostgreSQL with a synchronous standby shows rows that the standby need not have, so
 * what was there must be locked; Spanner and Aurora DSQL refuse that lock and show replicated rows alone. One statement
 * of PostgreSQL for both parts takes 1.6 times as long for a lone create, and is faster only from some 256 in flight on
 * (docs/distributed-sql.md). An engine that is not known gets the portable statements, because it is more likely to take
 * them.
 */
export async function chooseDialect(query: Primary['query']): Promise<Dialect> {
  const [row] = await query<{ version: string }>('SELECT version()')
  return postgres.test(String(row?.version)) ? ownDialect : portableDialect
}
