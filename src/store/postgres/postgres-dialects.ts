import { randomBytes } from 'node:crypto'
import type { PlantRow, StoredPlant } from '../plant-store.ts'
import { type Primary, withRetries } from './postgres-primary.ts'

type Query = Primary['query']

/** A row for the outcome of a write: a new plant, whose name and tag may be missing, or the plant that existed. */
export type CreateRow = Omit<PlantRow<string>, 'name'> & { name: string | null; created: boolean }

/** The statements that create plants on one kind of server. All kinds share the queries. */
export type Dialect = {
  /** The most plants of one batch. */
  batchItems: number
  /**
   * Inserts the plants whose ids do not exist yet. `plants` is sorted by id, without duplicates. Resolves with a row
   * for each plant. A plant has no row when it lost against a transaction whose commit was not visible yet; it must be
   * created again.
   */
  create(query: Query, plants: StoredPlant[]): Promise<CreateRow[]>
  /** Rejects when the table is missing or lacks what `create` needs. */
  check(query: Query): Promise<unknown>
  /** Returns the statements that create a plant with this id and remove it again, in one committed transaction. */
  probe(id: bigint): string
}

/**
 * Matches PostgreSQL itself and builds of it by other vendors, such as AlloyDB. It does not match YugabyteDB
 * (`PostgreSQL 15.2-YB-2.25…`), CockroachDB (its own name) or PGAdapter for Spanner (`PostgreSQL 14.1`, no compiler).
 */
const postgresBuild = /^PostgreSQL \d+(?:\.\d+|beta\d+|rc\d+|devel)*[ ,].*compiled by /

/**
 * Returns the dialect for the server. An unknown engine gets the portable statements, which it is more likely to
 * support. With a synchronous standby, PostgreSQL shows rows that the standby may not have yet, so existing rows must
 * be locked. Spanner and Aurora DSQL reject that lock, and show only replicated rows. PostgreSQL could insert and read
 * in one statement, but that takes 1.6 times as long for a lone write, and is faster only from about 256 writes in
 * flight (docs/decisions/no-transactions.md).
 */
export async function chooseDialect(query: Query): Promise<Dialect> {
  const [row] = await query<{ version: string }>('SELECT version()')
  return postgresBuild.test(String(row?.version)) ? postgresDialect : portableDialect
}

const conflict = 'ON CONFLICT (id) DO NOTHING RETURNING id'

const insert = (count: number) => {
  const rows = Array.from({ length: count }, (_, row) => `($${3 * row + 1}, $${3 * row + 2}, $${3 * row + 3})`)
  return `INSERT INTO plants (id, name, tag) VALUES ${rows} ${conflict}`
}

/** Inserts the plants whose ids are not taken. Resolves with those ids, in decimal digits. */
export async function insertPlants(query: Query, plants: StoredPlant[]): Promise<Set<string>> {
  const values = plants.flatMap(({ id, name, tag }) => [id, name, tag ?? null])
  return new Set((await query<{ id: string }>(insert(plants.length), values)).map(idOf))
}

const idOf = <Id>({ id }: { id: Id }): Id => id

/**
 * Inserts no plant. Rejects when the table is missing or has other columns. `|| ''` has the type text, which only a
 * column of text accepts.
 */
export const insertNone = (query: Query) =>
  query(
    `INSERT INTO plants (id, name, tag) SELECT id, name || '', tag || '' FROM plants WHERE id = ANY($1::bigint[]) ${conflict}`,
    [[]],
  )

/** Returns an INSERT statement without parameters. The name must need no quoting. */
export const insertLiteral = (id: bigint, name: string): string =>
  `INSERT INTO plants (id, name, tag) VALUES (${id}, '${name}', NULL) ${conflict}`

/** Returns the row for a new plant. */
export const newRow = ({ id }: StoredPlant): CreateRow => ({ id: String(id), name: null, tag: null, created: true })

const lock = (ids: string) => `SELECT id, name, tag FROM plants WHERE id = ANY(${ids}) ORDER BY id FOR SHARE`

/**
 * The portable statements, but with a lock on existing rows. The lock is written to the write-ahead log, so its commit
 * waits for the disk and the synchronous standby. When the rows were created, the wait for the standby may have been
 * canceled, which leaves them committed on the primary only. So a read without a lock would not prove them durable.
 */
export const postgresDialect: Dialect = {
  // The size limit of a batch allows no more plants: 1 MiB, with at least 1 KiB a plant. The protocol allows 65,535
  // parameters.
  batchItems: 1_024,

  async create(query, plants) {
    const inserted = await insertPlants(query, plants)
    const isNew = ({ id }: { id: bigint }) => inserted.has(String(id))
    const created = plants.filter(isNew).map(newRow)
    if (created.length === plants.length) return created
    const ids = plants.map(idOf).filter((id) => !inserted.has(String(id)))
    // Retried separately: a second INSERT would no longer show which plants were new.
    const rows = await withRetries(() => query<PlantRow<string>>(lock('$1::bigint[]'), [ids]))
    return [...created, ...rows.map((row) => ({ ...row, created: false }))]
  },

  async check(query) {
    await insertNone(query)
    await query(lock('$1::bigint[]'), [[]])
  },

  /** Rolls the plant back before the commit, so that no other transaction sees it. The write-ahead log has it. */
  probe: (id) =>
    `BEGIN; SAVEPOINT probe; ${insertLiteral(id, 'probe')}; ${lock(`ARRAY[${id}]`)}; ROLLBACK TO SAVEPOINT probe; COMMIT`,
}

const select = 'SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[])'

/**
 * The statements that every PostgreSQL-compatible engine documents (docs/stores.md). Each is a transaction of
 * its own, so that the SELECT sees rows committed after the snapshot of the INSERT. Existing rows need no lock: a
 * replicating engine shows only replicated rows.
 */
export const portableDialect: Dialect = {
  // Spanner allows 950 parameters, which is 316 rows. A plan cache holds one statement for each number of rows.
  batchItems: 300,

  async create(query, plants) {
    const inserted = await insertPlants(query, plants)
    if (inserted.size === plants.length) return plants.map(newRow)
    return await readBack(query, plants, inserted)
  },

  check: insertNone,

  /**
   * Deletes the plant of the probe, which it recognizes by its random name. Aurora DSQL has no savepoints, and
   * PGAdapter commits nothing after a rollback to one.
   */
  probe(id) {
    const name = `probe ${randomBytes(16).toString('hex')}`
    return `BEGIN; ${insertLiteral(id, name)}; DELETE FROM plants WHERE id = ${id} AND name = '${name}'; COMMIT`
  },
}

/**
 * Reads the rows of a batch in which some plants existed. The content of a row decides which create won. RETURNING is
 * needed only to tell a new plant from an identical existing one, and it may be wrong: Spanner's emulator returns the
 * right number of ids, but always those of the last rows of the statement. The ids are certainly wrong when one of them
 * belongs to a row with different content. Then every row with the content of this write counts as new.
 */
async function readBack(query: Query, plants: StoredPlant[], inserted: Set<string>): Promise<CreateRow[]> {
  const ids = plants.map(idOf)
  // Retried separately: a second INSERT would no longer show which plants were new.
  const rows = await withRetries(() => query<PlantRow<string>>(select, [ids]))
  const given = new Map(plants.map((plant) => [String(plant.id), plant]))
  const compared = rows.map(function compare(row) {
    const { name, tag = null } = given.get(row.id) as StoredPlant
    return { row, isOwn: row.name === name && row.tag === tag, isInserted: inserted.has(row.id) }
  })
  const isExact = compared.every(({ isOwn, isInserted }) => isOwn || !isInserted)
  return compared.map(({ row, isOwn, isInserted }) => ({ ...row, created: isOwn && (isInserted || !isExact) }))
}
