import { type PlantRow, pageSize, plantOf } from './plant-row.ts'
import type { PlantQueries } from './plant-store.ts'
import type { Primary } from './postgres-primary.ts'

/** Reads an id as the driver gives it: a bigint as its digits. */
const exact = ({ id, ...rest }: PlantRow<string>) => plantOf({ id: BigInt(id), ...rest })

/** A page ends with the first plant by which it has this size. The sizes of long texts are known without reading them. */
const page = `
  SELECT id, name, tag FROM (
    SELECT id, name, tag, sum(octet_length(name) + coalesce(octet_length(tag), 0)) OVER (
      ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS before
    FROM (SELECT id, name, tag FROM plants WHERE id >= $1 ORDER BY id LIMIT $2) AS candidates
  ) AS sized
  WHERE coalesce(before, 0) < ${pageSize} ORDER BY id`

const counted =
  'SELECT count(*)::int AS count, max(id) AS last FROM (SELECT id FROM plants WHERE id >= $1 ORDER BY id LIMIT $2) AS ids'

/** Returns the queries of the PostgreSQL store. A further one is added here alone. */
export const postgresQueries = (query: Primary['query']): PlantQueries => ({
  async get(id) {
    const [row] = await query<PlantRow<string>>('SELECT id, name, tag FROM plants WHERE id = $1', [id])
    return row && exact(row)
  },

  async list(from, limit) {
    return (await query<PlantRow<string>>(page, [from, limit])).map(exact)
  },

  async count(from, limit) {
    const [{ count, last }] = (await query(counted, [from, limit])) as [{ count: number; last: string | null }]
    return { count, last: last === null ? undefined : BigInt(last) }
  },
})
