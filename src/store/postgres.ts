import { randomBytes } from 'node:crypto'
import { groupCreates } from './group-commit.ts'
import type { CreateOutcome, PlantQueries, PlantStore, StoredPlant } from './plant-store.ts'
import { openPrimary, type Primary } from './postgres-primary.ts'
import { postgresQueries } from './postgres-queries.ts'
import { makeTable } from './postgres-table.ts'
import { readPostgresUrl } from './postgres-url.ts'
import { Unavailable } from './unavailable.ts'

const columns = 'id bigint PRIMARY KEY, name text NOT NULL, tag text'

const table = `CREATE TABLE IF NOT EXISTS plants (${columns})`

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

type Row = { id: string; name: string; tag: string | null; created: boolean }

/** How often a batch asks again before its clients are told to. */
const attempts = 10

/** SQLSTATE of what ends a transaction that may succeed when it is run again: a failed serialization, a deadlock. */
const retryable = /^(40001|40P01)$/
/** SQLSTATE of a column or a type that is not there, or is another, and of a missing primary key. */
const unlikeTable = /^42(703|804|809|883|846|P10)$/
/** SQLSTATE classes of what one record can be to blame for: data exceptions, constraints, a limit of the server. */
const ofRecord = /^(22|23|54)/

/**
 * Opens the PostgreSQL database of a URL, for any number of instances of the service; makes its table where it is
 * missing. Rejects when no server can be used: none is reached, takes writes, and keeps what it acknowledges.
 */
export async function openPostgres(url: string): Promise<PlantStore & PlantQueries> {
  const primary = openPrimary(readPostgresUrl(url))
  try {
    await makeTable(
      () => insert(primary, []),
      () => primary.query(table),
    )
  } catch (error) {
    await primary.close()
    throw ofSchema(error as Error & { code?: string })
  }
  const creates = groupCreates((batch) => commit(primary, batch))
  let closing: Promise<void> | undefined
  return {
    ...postgresQueries(async (text, values) => {
      if (closing !== undefined) throw new Error('the store is closed')
      return await untilDone(() => primary.query(text, values))
    }),
    create: creates.submit,
    ready: () => probe(primary),
    close() {
      closing ??= creates.close().then(() => primary.close())
      return closing
    },
  }
}

/** Returns an error that names the table when the statement of a create does not fit it, and any other error as it is. */
function ofSchema(error: Error & { code?: string }): Error {
  if (!unlikeTable.test(String(error.code))) return error
  return new Error(`its table plants is another: ${error.message}; allowed: ${columns}`, { cause: error })
}

/**
 * Creates a plant of a random id and takes it back before the commit, so that nobody can see it: the same statement, with
 * the same rights, and a commit that waits for the same disk and standby, because what was taken back is in its log.
 */
async function probe(primary: Primary): Promise<void> {
  const given = [`{${randomBytes(8).readBigInt64BE()}}`, '{probe}', '{NULL}']
  const create = statement.replace(/\$([123])/g, (_, number) => `'${given[number - 1]}'`)
  try {
    await primary.query(`BEGIN; SAVEPOINT probe; ${create}; ROLLBACK TO SAVEPOINT probe; COMMIT`)
  } catch (error) {
    // A constraint that an operator added may refuse the plant of the probe alone.
    if (!ofRecord.test((error as { code?: string }).code ?? '')) throw error
  }
}

/** Sorted ids lock rows in one order, so that instances wait for each other but never in a circle. */
async function commit(primary: Primary, batch: StoredPlant[]): Promise<CreateOutcome[]> {
  const first = new Map<bigint, StoredPlant>()
  for (const plant of batch) if (!first.has(plant.id)) first.set(plant.id, plant)
  const rows = new Map<bigint, Row>()
  let asked = [...first.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  await untilDone(async () => {
    for (const row of await insert(primary, asked)) rows.set(BigInt(row.id), row)
    asked = asked.filter(({ id }) => !rows.has(id))
    return asked.length === 0 ? rows : undefined
  })
  return batch.map((plant) => {
    const row = rows.get(plant.id) as Row
    const winner = first.get(plant.id) as StoredPlant
    if (row.created && plant === winner) return 'created'
    const { name, tag } = row.created ? winner : row
    return name === plant.name && (tag ?? undefined) === plant.tag ? 'identical' : 'conflict'
  })
}

/** Runs `attempt` until it has a result, as long as the server's errors tell that it may have one the next time. */
async function untilDone<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let attempted = 0; attempted < attempts; attempted++) {
    try {
      const result = await attempt()
      if (result !== undefined) return result
    } catch (error) {
      const { code = '', message } = error as Error & { code?: string }
      if (retryable.test(code)) continue
      throw ofRecord.test(code) ? error : new Unavailable(message, { cause: error })
    }
  }
  throw new Unavailable('others change the same plants')
}

const insert = (primary: Primary, plants: StoredPlant[]): Promise<Row[]> =>
  primary.query<Row>(statement, [
    plants.map(({ id }) => id),
    plants.map(({ name }) => name),
    plants.map(({ tag }) => tag ?? null),
  ])
