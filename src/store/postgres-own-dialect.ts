import type { PlantRow } from './plant-row.ts'
import type { Dialect } from './postgres-dialect.ts'
import { insertLiteral, insertNone, insertPlants, newRow } from './postgres-insert.ts'
import { untilDone } from './postgres-retry.ts'

const lock = (ids: string) => `SELECT id, name, tag FROM plants WHERE id = ANY(${ids}) ORDER BY id FOR SHARE`

/**
 * The portable statements, but what was there is locked, which writes to the log: so that its commit is waited for as well,
 * also by a synchronous standby, should it have been interrupted the first time.
 */
export const ownDialect: Dialect = {
  // The protocol allows 65,535 parameters. The size of a batch allows no more plants anyway.
  batchItems: 1_024,

  async create(query, plants) {
    const inserted = await insertPlants(query, plants)
    const isNew = ({ id }: { id: bigint }) => inserted.has(String(id))
    const created = plants.filter(isNew).map(newRow)
    if (created.length === plants.length) return created
    const ids = plants.filter((plant) => !isNew(plant)).map(({ id }) => id)
    // Tried again by itself: a second INSERT would no longer tell which plants were new.
    const rows = await untilDone(() => query<PlantRow<string>>(lock('$1::bigint[]'), [ids]))
    return [...created, ...rows.map((row) => ({ ...row, created: false }))]
  },

  async check(query) {
    await insertNone(query)
    await query(lock('$1::bigint[]'), [[]])
  },

  /** The plant is taken back before the commit, so that nobody can see it; what was taken back is in the log. */
  probe: (id) =>
    `BEGIN; SAVEPOINT probe; ${insertLiteral(id, 'probe')}; ${lock(`ARRAY[${id}]`)}; ROLLBACK TO SAVEPOINT probe; COMMIT`,
}
