import { type PlantRow, pageSize, plantOf } from './plant-row.ts'
import type { PlantQueries } from './plant-store.ts'
import type { Primary } from './postgres-primary.ts'

/** Reads an id as the driver gives it: a bigint as its digits. */
const exact = ({ id, ...rest }: PlantRow<string>) => plantOf({ id: BigInt(id), ...rest })

/** Selects the sizes of texts first, so that no more rows than fit into a page are read; every engine supports it. */
const sizes =
  'SELECT id, length(name) + coalesce(length(tag), 0) AS size FROM plants WHERE id >= $1 ORDER BY id LIMIT $2'

const rows = 'SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[]) ORDER BY id'

const counted =
  'SELECT count(*) AS count, max(id) AS last FROM (SELECT id FROM plants WHERE id >= $1 ORDER BY id LIMIT $2) AS ids'

/** The driver gives an int8 as its digits, an int4 as a number; of which type a length is depends on the engine. */
type Sized = { id: string; size: string | number }

/** Returns the ids of a page: it ends with the first plant by which it has the size of one. */
function page(plants: Sized[]): string[] {
  let total = 0
  const end = plants.findIndex(({ size }) => {
    total += Number(size)
    return total >= pageSize
  })
  return plants.slice(0, end === -1 ? plants.length : end + 1).map(({ id }) => id)
}

/** Returns the queries of the PostgreSQL store. A further one is added here alone. */
export const postgresQueries = (query: Primary['query']): PlantQueries => ({
  async get(id) {
    const [row] = await query<PlantRow<string>>('SELECT id, name, tag FROM plants WHERE id = $1', [id])
    return row && exact(row)
  },

  async list(from, limit) {
    for (;;) {
      const ids = page(await query<Sized>(sizes, [from, limit]))
      const found = ids.length === 0 ? [] : await query<PlantRow<string>>(rows, [ids])
      // Another program may delete all of a page before its rows are read, and only the last page is empty.
      if (found.length > 0 || ids.length === 0) return found.map(exact)
    }
  },

  async count(from, limit) {
    const [{ count, last }] = (await query(counted, [from, limit])) as [{ count: string; last: string | null }]
    return { count: Number(count), last: last === null ? undefined : BigInt(last) }
  },
})
