import type { StoredPlant } from '../../src/store/plant-store.ts'
import { type CreateRow, type Dialect, ownDialect } from '../../src/store/postgres/postgres-dialects.ts'
import type { Primary } from '../../src/store/postgres/postgres-primary.ts'

/**
 * Inserts new rows and returns existing rows, in one statement. It locks the existing rows, because the commit that
 * inserted them may not have waited for the synchronous standby. The lock writes to the write-ahead log, so this commit
 * waits until those rows are durable, on the standby, too. A row that another transaction commits meanwhile is in
 * neither part of the result; the store then repeats the statement.
 */
const statement = `
  WITH given AS (SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) AS given (id, name, tag)),
  added AS (
    INSERT INTO plants (id, name, tag) SELECT id, name, tag FROM given ORDER BY id
    ON CONFLICT (id) DO NOTHING RETURNING id
  ),
  kept AS (SELECT id, name, tag FROM plants WHERE id = ANY ($1::bigint[]) ORDER BY id FOR SHARE)
  SELECT id, NULL AS name, NULL AS tag, true AS created FROM added
  UNION ALL SELECT id, name, tag, false FROM kept`

const create = (query: Primary['query'], plants: StoredPlant[]): Promise<CreateRow[]> =>
  query<CreateRow>(statement, [
    plants.map(({ id }) => id),
    plants.map(({ name }) => name),
    plants.map(({ tag }) => tag ?? null),
  ])

/** A dialect that creates plants with one PostgreSQL statement, for comparison. */
export const oneStatementDialect: Dialect = {
  batchItems: ownDialect.batchItems,
  create,
  check: (query) => create(query, []),

  probe: ownDialect.probe,
}
