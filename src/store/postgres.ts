import { randomBytes } from 'node:crypto'
import { chooseDialect } from './choose-dialect.ts'
import { groupCreates } from './group-creates.ts'
import type { CreateOutcome, PlantQueries, PlantStore, StoredPlant } from './plant-store.ts'
import type { CreateRow, Dialect } from './postgres-dialect.ts'
import { openPrimary, type Primary } from './postgres-primary.ts'
import { postgresQueries } from './postgres-queries.ts'
import { isRecordError, withRetries } from './postgres-retry.ts'
import { assertKnownSchema, ensureTable } from './postgres-schema.ts'
import { readPostgresUrl } from './postgres-url.ts'

const columns = 'id bigint PRIMARY KEY, name text NOT NULL, tag text'

const table = `CREATE TABLE IF NOT EXISTS plants (${columns})`

/** SQLSTATEs of a missing or different column or type, and of a missing primary key. */
const schemaMismatch = /^42(703|804|809|883|846|P10)$/

/**
 * Opens the PostgreSQL database of a URL, which any number of instances can share, and creates its table when it is
 * missing. Rejects when no server can be used: a server must be reachable, accept writes and keep what it acknowledges.
 */
export async function openPostgres(url: string, choose = chooseDialect): Promise<PlantStore & PlantQueries> {
  const primary = openPrimary(readPostgresUrl(url))
  let dialect: Dialect
  try {
    await assertKnownSchema(primary.query)
    dialect = await choose(primary.query)
    await ensureTable(
      () => dialect.check(primary.query),
      () => primary.query(table),
    )
  } catch (error) {
    await primary.close()
    throw explainMismatch(error as Error & { code?: string })
  }
  const creates = groupCreates((batch) => commit(primary, dialect, batch), dialect.batchItems)
  let closing: Promise<void> | undefined
  return {
    ...postgresQueries(async (text, values) => {
      if (closing !== undefined) throw new Error('the store is closed')
      return await withRetries(() => primary.query(text, values))
    }),
    create: creates.submit,
    ready: () => probe(primary, dialect),
    close() {
      closing ??= creates.close().then(() => primary.close())
      return closing
    },
  }
}

/** Returns an error that names the table when its columns do not fit, and any other error unchanged. */
function explainMismatch(error: Error & { code?: string }): Error {
  if (!schemaMismatch.test(String(error.code))) return error
  return new Error(`its table plants has the wrong schema: ${error.message}; allowed: ${columns}`, { cause: error })
}

/**
 * Creates a plant with a random id and removes it in the same transaction, so that no other transaction sees it. The
 * probe needs the same statement and privileges as a create, and its commit waits for the same disk and standby.
 */
async function probe(primary: Primary, dialect: Dialect): Promise<void> {
  const statements = dialect.probe(randomBytes(8).readBigInt64BE())
  // A constraint that an operator added may reject only the plant of the probe.
  await withRetries(() => primary.query(statements).then(() => true)).catch((error) => {
    if (!isRecordError(error)) throw error
  })
}

/** Commits a batch. Its ids are sorted, so that all instances lock rows in the same order and cannot deadlock. */
async function commit(primary: Primary, dialect: Dialect, batch: StoredPlant[]): Promise<CreateOutcome[]> {
  const first = new Map<bigint, StoredPlant>()
  for (const plant of batch) if (!first.has(plant.id)) first.set(plant.id, plant)
  const rows = new Map<bigint, CreateRow>()
  let asked = [...first.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  await withRetries(async () => {
    for (const row of await dialect.create(primary.query, asked)) rows.set(BigInt(row.id), row)
    asked = asked.filter(({ id }) => !rows.has(id))
    return asked.length === 0 ? rows : undefined
  })
  return batch.map((plant) => {
    const row = rows.get(plant.id) as CreateRow
    const winner = first.get(plant.id) as StoredPlant
    if (row.created && plant === winner) return 'created'
    const { name, tag } = row.created ? winner : row
    return name === plant.name && (tag ?? undefined) === plant.tag ? 'identical' : 'conflict'
  })
}
