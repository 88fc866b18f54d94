import pg from 'pg'
import { openStore } from 'plant-store/store'

const statement = `
  INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, tag = excluded.tag`

/** Opens a defective store in which the last write wins. */
export async function open(url) {
  const inner = url.slice(url.indexOf('?') + 1)
  const store = await openStore(inner)
  const pool = new pg.Pool({ connectionString: inner })
  pool.on('error', () => {})
  return {
    ...store,
    async create({ id, name, tag }) {
      await pool.query(statement, [id, name, tag ?? null])
      return 'created'
    },
    async close() {
      await Promise.all([store.close(), pool.end()])
    },
  }
}
