import type { StoredPlant } from './plant-store.ts'
import type { CreateRow } from './postgres-dialect.ts'
import type { Primary } from './postgres-primary.ts'

const conflict = 'ON CONFLICT (id) DO NOTHING RETURNING id'

const insert = (count: number) => {
  const rows = Array.from({ length: count }, (_, row) => `($${3 * row + 1}, $${3 * row + 2}, $${3 * row + 3})`)
  return `INSERT INTO plants (id, name, tag) VALUES ${rows} ${conflict}`
}

/** Inserts the plants whose ids are not taken. Resolves with those ids, in decimal digits. */
export async function insertPlants(query: Primary['query'], plants: StoredPlant[]): Promise<Set<string>> {
  const values = plants.flatMap(({ id, name, tag }) => [id, name, tag ?? null])
  return new Set((await query<{ id: string }>(insert(plants.length), values)).map(({ id }) => id))
}

/** Inserts no plant. Rejects when the table is missing or has other columns. */
export const insertNone = (query: Primary['query']) =>
  query(
    `INSERT INTO plants (id, name, tag) SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[]) ${conflict}`,
    [[]],
  )

/** Returns an INSERT statement without parameters. The name must need no quoting. */
export const insertLiteral = (id: bigint, name: string): string =>
  `INSERT INTO plants (id, name, tag) VALUES (${id}, '${name}', NULL) ${conflict}`

/** Returns the row for a new plant. */
export const newRow = ({ id }: StoredPlant): CreateRow => ({ id: String(id), name: null, tag: null, created: true })
