import { cassandraUrl } from './cassandra/cassandra-url.ts'
import type { PlantReader, PlantStore } from './plant-store.ts'
import { postgresUrl } from './postgres/postgres-url.ts'

export type { CreateOutcome, PlantOperations, PlantStore, StoredPlant } from './plant-store.ts'

/** The accepted forms of STORE_URL, for messages. */
export const storeUrls =
  'memory:, sqlite:PATH (a path without "?", no file: URI), postgres://USER@HOST/DATABASE, ' +
  'cassandra://HOST,HOST,HOST/KEYSPACE?datacenter=NAME or module:./PATH'

type Adapter = {
  shape: RegExp
  open(url: string): Promise<PlantStore>
  /** Opens the store for reading, while a service may have it open. */
  openReader?(url: string): Promise<PlantReader>
  /** Creates what the store needs, with a replication factor. Resolves with a line to print. */
  migrate?(url: string, replicationFactor: number): Promise<string>
}

const openPostgres = async (url: string) => (await import('./postgres/postgres-store.ts')).openPostgres(url)

const postgres: Adapter = {
  shape: postgresUrl,
  open: openPostgres,
  openReader: openPostgres,
}

const openCassandra = async (url: string) => (await import('./cassandra/cassandra-store.ts')).openCassandra(url)

const cassandra: Adapter = {
  shape: cassandraUrl,
  open: openCassandra,
  openReader: openCassandra,
  migrate: async (url, replicationFactor) =>
    (await import('./cassandra/cassandra-store.ts')).migrateCassandra(url, replicationFactor),
}

const memory: Adapter = {
  shape: /^memory:$/,
  open: async () => (await import('./memory.ts')).openMemory(),
}

const sqlite: Adapter = {
  // SQLite would treat parameters such as mode=ro as a part of the file name, and :memory: would keep nothing.
  shape: /^sqlite:(?!file:|:memory:)[^?]+$/,
  open: async (url) => (await import('./sqlite/sqlite-store.ts')).openSqlite(url.slice(7)),
  openReader: async (url) => (await import('./sqlite/sqlite-queries.ts')).openSqliteReader(url.slice(7)),
}

const adapters = new Map<string, Adapter>([
  ['memory', memory],
  ['sqlite', sqlite],
  ['postgres', postgres],
  ['postgresql', postgres],
  ['cassandra', cassandra],
  ['module', { shape: /^module:\.{0,2}\/.+$/, open: async (url) => (await import('./module.ts')).openModule(url) }],
])

const adapterOf = (url: string) => {
  const adapter = adapters.get(url.slice(0, url.indexOf(':')))
  return adapter?.shape.test(url) ? adapter : undefined
}

/** Returns whether the form of a STORE_URL is valid. The store itself may still be missing or broken. */
export const isStoreUrl = (url: string): boolean => adapterOf(url) !== undefined

/** Opens the store of a STORE_URL, and loads only the adapter of that store. Rejects with the reason. */
export async function openStore(url: string): Promise<PlantStore> {
  const adapter = adapterOf(url)
  if (adapter === undefined) throw new Error(`unsupported STORE_URL; expected ${storeUrls}`)
  return await adapter.open(url)
}

/** Opens a store for reading, while a service may have it open. Rejects with the reason. */
export async function openForReading(url: string): Promise<PlantReader> {
  const open = adapterOf(url)?.openReader
  if (open === undefined) throw new Error('only the service can read this store; expected sqlite:PATH or postgres://…')
  return await open(url)
}

/**
 * Creates what the store of a STORE_URL needs, with a replication factor. Resolves with a line to print. Rejects for
 * a store that needs no such command.
 */
export async function migrateStore(url: string, replicationFactor: number): Promise<string> {
  const migrate = adapterOf(url)?.migrate
  if (migrate === undefined) throw new Error('this store needs no migration; expected cassandra://…')
  return await migrate(url, replicationFactor)
}
