import type { Dialect } from './postgres-dialect.ts'
import { ownDialect } from './postgres-own-dialect.ts'
import { portableDialect } from './postgres-portable-dialect.ts'
import type { Primary } from './postgres-primary.ts'

/**
 * Matches PostgreSQL itself and builds of it by other vendors, such as AlloyDB. It does not match YugabyteDB
 * (`PostgreSQL 15.2-YB-2.25…`), CockroachDB (its own name) or PGAdapter for Spanner (`PostgreSQL 14.1`, no compiler).
 */
const postgresBuild = /^PostgreSQL \d+(?:\.\d+|beta\d+|rc\d+|devel)*[ ,].*compiled by /

/**
 * Returns the dialect for the server. An unknown engine gets the portable statements, which it is more likely to
 * support. With a synchronous standby, PostgreSQL shows rows that the standby may not have yet, so existing rows must
 * be locked. Spanner and Aurora DSQL reject that lock, and show only replicated rows. PostgreSQL could insert and read
 * in one statement, but that takes 1.6 times as long for a lone create, and is faster only from about 256 creates in
 * flight (docs/distributed-sql.md).
 */
export async function chooseDialect(query: Primary['query']): Promise<Dialect> {
  const [row] = await query<{ version: string }>('SELECT version()')
  return postgresBuild.test(String(row?.version)) ? ownDialect : portableDialect
}
