import { maxPageSize, type PlantRow, plantFromRow } from './plant-row.ts'
import type { PlantQueries } from './plant-store.ts'
import type { Primary } from './postgres-primary.ts'

/** Converts a row to a plant. The driver returns a bigint as its digits. */
const exact = ({ id, ...rest }: PlantRow<string>) => plantFromRow({ id: BigInt(id), ...rest })

/** Selects the sizes first, so that only rows that fit into a page are read. Every engine supports this. */
const sizes =
  'SELECT id, length(name) + coalesce(length(tag), 0) AS size FROM plants WHERE id >= $1 ORDER BY id LIMIT $2'

const rows = 'SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[]) ORDER BY id'

const counted =
  'SELECT count(*) AS count, max(id) AS last FROM (SELECT id FROM plants WHERE id >= $1 ORDER BY id LIMIT $2) AS ids'

/** The driver returns an int8 as its digits and an int4 as a number. The type of length() depends on the engine. */
type Sized = { id: string; size: string | number }

/** Returns the ids of a page, which ends with the plant that fills it. */
function page(plants: Sized[]): string[] {
  let total = 0
  const end = plants.findIndex(({ size }) => {
    total += Number(size)
    return total >= maxPageSize
  })
  return plants.slice(0, end === -1 ? plants.length : end + 1).map(({ id }) => id)
}

/** Returns the queries of the PostgreSQL store. A new query is added only here. */
export const postgresQueries = (query: Primary['query']): PlantQueries => ({
  async get(id) {
    const [row] = await query<PlantRow<string>>('SELECT id, name, tag FROM plants WHERE id = $1', [id])
    return row && exact(row)
  },

  async list(from, limit) {
    for (;;) {
      const ids = page(await query<Sized>(sizes, [from, limit]))
      const found = ids.length === 0 ? [] : await query<PlantRow<string>>(rows, [ids])
      // Another program may delete all plants of a page before its rows are read, but only the last page may be empty.
      if (found.length > 0 || ids.length === 0) return found.map(exact)
    }
  },

  async count(from, limit) {
    const [{ count, last }] = (await query(counted, [from, limit])) as [{ count: string; last: string | null }]
    return { count: Number(count), last: last === null ? undefined : BigInt(last) }
  },
})
