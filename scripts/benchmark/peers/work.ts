// What every peer does by hand: it knows one token, and stores plants in a Map or in a SQLite file.
import { hash, timingSafeEqual } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { openSqliteFile } from '../../../src/store/sqlite/sqlite-driver.ts'

// As this service does: while others are measured, V8 would drop the optimized code of an idle process.
setFlagsFromString('--gc-memory-reducer-start-delay-ms=600000')

export const host = '127.0.0.1'
export const port = Number(process.env.PORT)

export type Plant = { id: number | bigint; name: string; tag?: string | undefined }

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer')
const accepted = digestOf(`Bearer ${process.env.ACCESS_TOKENS}`)

/** Returns whether an Authorization header has the token. Digests have one length, so the time tells nothing of it. */
export const isAuthorized = (header = ''): boolean => timingSafeEqual(digestOf(header), accepted)

/** The paths that create a plant: one, or those of the document with OPERATIONS operations. */
export const paths =
  process.env.OPERATIONS === undefined
    ? ['/plants']
    : Array.from({ length: Number(process.env.OPERATIONS) }, (_, n) => `/plants${n}`)

/** A list of 1,000 plants with ids below 2^53, and one with larger ids, which are bigint. */
export const list: (Plant & { id: number })[] = Array.from({ length: 1_000 }, (_, n) => ({
  id: n + 1,
  name: 'Monstera deliciosa',
  tag: 'indoor',
}))
export const exactList: Plant[] = list.map((plant) => ({ ...plant, id: 9_100_000_000_000_000n + BigInt(plant.id) }))

/** Stores a plant. Returns false if its id belongs to another plant. */
export const store = process.env.SQLITE_FILE === undefined ? mapStore() : fileStore(process.env.SQLITE_FILE)

function mapStore() {
  const plants = new Map<number | bigint, { name: string; tag: string | undefined }>()
  return ({ id, name, tag }: Plant): boolean => {
    const kept = plants.get(id)
    if (kept !== undefined) return kept.name === name && kept.tag === tag
    plants.set(id, { name, tag })
    return true
  }
}

/** Each plant is a transaction of its own, as durable as those of the service. */
function fileStore(path: string) {
  const database = openSqliteFile(path, {})
  database.exec('PRAGMA store.journal_mode = WAL; PRAGMA store.synchronous = FULL')
  database.exec('CREATE TABLE store.plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT')
  const insert = database.prepare('INSERT INTO plants VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const select = database.prepare('SELECT name, tag FROM plants WHERE id = ?')
  function create({ id, name, tag }: Plant): boolean {
    if (insert.run(id, name, tag ?? null).changes === 1) return true
    const kept = select.get(id) as { name: string; tag: string | null }
    return kept.name === name && kept.tag === (tag ?? null)
  }
  // @photostructure/sqlite closes a database that is collected as garbage, although its statements are in use.
  return Object.assign(create, { database })
}
