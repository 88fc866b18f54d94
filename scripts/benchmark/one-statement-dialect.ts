import type { StoredPlant } from '../../src/store/plant-store.ts'
import type { CreateRow, Dialect } from '../../src/store/postgres-dialect.ts'
import { ownDialect } from '../../src/store/postgres-own-dialect.ts'
import type { Primary } from '../../src/store/postgres-primary.ts'

/**
 * Adds what is new and gives what was there, in one statement. The rows that were there are locked, which writes to the
 * log: so their commit is waited for as well, also by a synchronous standby, should it have been interrupted the first
 * time. A row that another transaction commits meanwhile is in neither part, and is asked for again.
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

/** Creates by one statement of PostgreSQL, for a comparison. */
export const oneStatementDialect: Dialect = {
  batchItems: ownDialect.batchItems,
  create,
  check: (query) => create(query, []),

  probe: ownDialect.probe,
}
