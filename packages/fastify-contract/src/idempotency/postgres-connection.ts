/** The rows of a result: `rows` of the package pg, or the result itself of the package postgres. */
type Result = { rows: unknown[] } | unknown[]

/** Runs one statement with values for $1, $2 and so on. */
export type PostgresQuery = { query(text: string, values?: unknown[]): Promise<Result> }

/** A connection that is taken from a pool. `release(true)` closes it instead of giving it back. */
export type PostgresConnection = PostgresQuery & {
  release(destroy?: boolean): void
  /** Present in the package pg, where a lost connection ends the process if nothing listens to its error. */
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
}

/** A pool of connections, such as `Pool` of the package pg. */
export type PostgresPool<Connection extends PostgresConnection = PostgresConnection> = PostgresQuery & {
  connect(): Promise<Connection>
}

/** The part of the package postgres that `postgresJsPool` uses. */
type Sql = { unsafe(text: string, values?: never[]): PromiseLike<unknown> }
type Reserved = Sql & { release(): void }

/** Returns whether an error says that the connection is lost. Other errors of the server have the severity ERROR. */
const isLost = ({ code = '', severity = '' }: { code?: string; severity?: string }): boolean =>
  /^(FATAL|PANIC)$/.test(severity) || /^(CONNECT|E)/.test(code)

/**
 * Returns a pool for `postgresKeys` from the function `sql` of the package postgres. The transaction of a handler then
 * has the reserved connection as `sql`. The package cannot close one connection, so instead of that, its transaction is
 * rolled back.
 */
export function postgresJsPool<ReservedSql extends Reserved>(
  sql: Sql & { reserve(): Promise<ReservedSql> },
): PostgresPool<PostgresConnection & { sql: ReservedSql }> {
  const queryOf =
    (on: Sql) =>
    async (text: string, values: unknown[] = []) =>
      (await on.unsafe(text, values as never[])) as unknown[]
  return {
    query: queryOf(sql),
    async connect() {
      const reserved = await sql.reserve()
      const query = queryOf(reserved)
      let lost = false
      const run: typeof query = async (text, values) =>
        await query(text, values).catch(function noteLoss(error) {
          lost ||= isLost(error)
          throw error
        })
      return { sql: reserved, query: run, release }

      function release(destroy = false): void {
        if (!destroy) reserved.release()
        // The package takes a lost connection out of its pool, and a release would put it back. A rollback fails on it.
        else if (!lost) query('ROLLBACK').then(() => reserved.release(), ignore)
      }
    },
  }
}

const ignore = () => {}

/** Runs a statement and returns its rows. */
export async function rowsOf<Row>(on: PostgresQuery, text: string, values: unknown[] = []): Promise<Row[]> {
  const result = await on.query(text, values)
  return (Array.isArray(result) ? result : result.rows) as Row[]
}
