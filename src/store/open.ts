import type { PlantReader, PlantStore } from './plant-store.ts'
import { postgresUrl } from './postgres-url.ts'
import type { SchemaTables } from './schema-migration.ts'

export type { CreateOutcome, PlantStore, StoredPlant } from './plant-store.ts'

/** The forms of STORE_URL, for messages. */
export const storeUrls =
  'memory:, sqlite:PATH (a path without "?", no file: URI), postgres://USER@HOST/DATABASE or module:./PATH'

type Adapter = {
  shape: RegExp
  /** Whether one process has such a store alone. */
  isAlone?: boolean
  open(url: string): Promise<PlantStore>
  /** Opens it beside a service that may have it open, to be read or to be written. */
  openReader?(url: string): Promise<PlantReader>
  openBeside?(url: string): Promise<PlantStore>
  openTables?(url: string): Promise<SchemaTables>
}

const openPostgres = async (url: string) => (await import('./postgres.ts')).openPostgres(url)

const postgres: Adapter = {
  shape: postgresUrl,
  open: openPostgres,
  openReader: openPostgres,
  openBeside: openPostgres,
  openTables: async (url) => (await import('./postgres-migration.ts')).openPostgresTables(url),
}

const memory: Adapter = {
  shape: /^memory:$/,
  isAlone: true,
  open: async () => (await import('./memory.ts')).openMemory(),
}

const sqlite: Adapter = {
  // SQLite would take parameters such as mode=ro for a part of the name, and :memory: would keep nothing.
  shape: /^sqlite:(?!file:|:memory:)[^?]+$/,
  isAlone: true,
  open: async (url) => (await import('./sqlite.ts')).openSqlite(url.slice(7)),
  openReader: async (url) => (await import('./sqlite-plant-reader.ts')).openSqliteReader(url.slice(7)),
  openBeside: async (url) => (await import('./sqlite.ts')).openSqlite(url.slice(7), true),
  openTables: async (url) => (await import('./sqlite-migration.ts')).openSqliteTables(url.slice(7)),
}

const adapters = new Map<string, Adapter>([
  ['memory', memory],
  ['sqlite', sqlite],
  ['postgres', postgres],
  ['postgresql', postgres],
  ['module', { shape: /^module:\.{0,2}\/.+$/, open: async (url) => (await import('./module.ts')).openModule(url) }],
])

const adapterOf = (url: string) => {
  const adapter = adapters.get(url.slice(0, url.indexOf(':')))
  return adapter?.shape.test(url) ? adapter : undefined
}

/** Whether a store can be opened from this URL; what it names may still be missing or broken. */
export const isStoreUrl = (url: string): boolean => adapterOf(url) !== undefined

/** Whether the store of this URL is one process' own; of a module's only its author knows. */
export const isAlone = (url: string): boolean => adapterOf(url)?.isAlone === true

/** Opens the store of a STORE_URL, loading only its own adapter. Rejects with the reason. */
export async function openStore(url: string): Promise<PlantStore> {
  const adapter = adapterOf(url)
  if (adapter === undefined) throw new Error(`it is no store's, allowed: ${storeUrls}`)
  return await adapter.open(url)
}

/** Opens the store of a STORE_URL to be read, while a service has it open or not. Rejects with the reason. */
export async function openReader(url: string): Promise<PlantReader> {
  const open = adapterOf(url)?.openReader
  if (open === undefined) throw new Error(unreachable)
  return await open(url)
}

/** Opens the store of a STORE_URL to be written, while a service has it open or not. Rejects with the reason. */
export async function openBeside(url: string): Promise<PlantStore> {
  const open = adapterOf(url)?.openBeside
  if (open === undefined) throw new Error(unreachable)
  return await open(url)
}

/** Opens the tables of a STORE_URL for a migration, while a service has them open or not. Rejects with the reason. */
export async function openTables(url: string): Promise<SchemaTables> {
  const open = adapterOf(url)?.openTables
  if (open === undefined) throw new Error(unreachable)
  return await open(url)
}

const unreachable = 'only the service can reach the plants of such a store, allowed: sqlite:PATH or postgres://…'

/** A STORE_URL for people to read: without its password, whatever that contains, as a part or as a parameter. */
export const withoutPassword = (url: string): string =>
  url.replace(/(:\/\/[^:/]*):.*@/s, '$1:***@').replace(/([?&]\w*password=)[^&]*/gi, '$1***')
