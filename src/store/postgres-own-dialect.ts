import type { PlantRow } from './plant-row.ts'
import type { Dialect } from './postgres-dialect.ts'
import { insertLiteral, insertNone, insertPlants, newRow } from './postgres-insert.ts'
import { withRetries } from './postgres-retry.ts'

const lock = (ids: string) => `SELECT id, name, tag FROM plants WHERE id = ANY(${ids}) ORDER BY id FOR SHARE`

/**
 * The portable statements, but with a lock on existing rows. The lock is written to the write-ahead log, so its commit
 * waits for the disk and the synchronous standby. The transaction that created the rows may have been canceled while it
 * waited for the standby, so a read without a lock would not prove that they are durable.
 */
export const ownDialect: Dialect = {
  // The size limit of a batch allows no more plants: 1 MiB, with at least 1 KiB a plant. The protocol allows 65,535
  // parameters.
  batchItems: 1_024,

  async create(query, plants) {
    const inserted = await insertPlants(query, plants)
    const isNew = ({ id }: { id: bigint }) => inserted.has(String(id))
    const created = plants.filter(isNew).map(newRow)
    if (created.length === plants.length) return created
    const ids = plants.filter((plant) => !isNew(plant)).map(({ id }) => id)
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
