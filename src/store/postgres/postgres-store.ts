import { randomBytes } from 'node:crypto'
import { groupPlantCommits } from '../group-commit.ts'
import {
  type CreateOutcome,
  type PlantQueries,
  type PlantRow,
  type PlantStore,
  plantFromRow,
  type StoredPlant,
} from '../plant-store.ts'
import { type CreateRow, chooseDialect, type Dialect } from './postgres-dialects.ts'
import { isRecordError, openPrimary, type Primary, withRetries } from './postgres-primary.ts'
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
    dialect = await choose(primary.query)
    const useTable = () => dialect.check(primary.query)
    await ensureTable(useTable, () => primary.query(table))
  } catch (error) {
    await primary.close()
    throw explainMismatch(error as Error & { code?: string })
  }
  const writes = groupPlantCommits((batch) => commit(primary, dialect, batch), { batchItems: dialect.batchItems })
  let closing: Promise<void> | undefined
  return {
    ...postgresQueries(async (text, values) => {
      if (closing !== undefined) throw new Error('the store is closed')
      return await withRetries(() => primary.query(text, values))
    }),
    create: writes.submit,
    ready: () => probe(primary, dialect),
    close() {
      closing ??= writes.close().then(primary.close)
      return closing
    },
  }
}

/** Returns an error that names the table when its columns do not fit, and any other error unchanged. */
function explainMismatch(error: Error & { code?: string }): Error {
  if (!schemaMismatch.test(String(error.code))) return error
  return new Error(`its table plants has the wrong schema: ${error.message}; expected ${columns}`, { cause: error })
}

/**
 * Commits a transaction that inserts a plant with a random id and undoes that, so that no other transaction sees it. It
 * inserts as a write does, and its commit waits for the same disk and standby.
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
  await withRetries(async function createRest() {
    for (const row of await dialect.create(primary.query, asked)) rows.set(BigInt(row.id), row)
    asked = asked.filter(({ id }) => !rows.has(id))
    return asked.length === 0 ? rows : undefined
  })
  return batch.map(function outcomeOf(plant) {
    const row = rows.get(plant.id) as CreateRow
    const winner = first.get(plant.id) as StoredPlant
    if (row.created && plant === winner) return 'created'
    const { name, tag } = row.created ? winner : row
    return name === plant.name && (tag ?? undefined) === plant.tag ? 'identical' : 'conflict'
  })
}

const undefinedTable = '42P01'

/**
 * Runs `use`, which needs the table. When the table is missing, runs `make` and then `use` again. Several instances may
 * do so at once: `make` then fails, in one of several ways, for all but one of them, but the table exists.
 */
export async function ensureTable(use: () => Promise<unknown>, make: () => Promise<unknown>): Promise<void> {
  try {
    await use()
  } catch (error) {
    if ((error as { code?: string }).code !== undefinedTable) throw error
    const [made] = await Promise.allSettled([make()])
    await use().catch((stillMissing: Error) => {
      throw made.status === 'rejected' ? made.reason : stillMissing
    })
  }
}

/** Converts a row to a plant. The driver returns a bigint as its digits. */
const exact = ({ id, ...rest }: PlantRow<string>) => plantFromRow({ id: BigInt(id), ...rest })

const list = 'SELECT id, name, tag FROM plants WHERE id >= $1 ORDER BY id LIMIT $2'

/** Returns the queries of the PostgreSQL store. A new query is added only here. */
const postgresQueries = (query: Primary['query']): PlantQueries => ({
  async list(from, limit) {
    return (await query<PlantRow<string>>(list, [from, limit])).map(exact)
  },
})
