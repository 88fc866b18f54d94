import type { PlantStore } from './plant-store.ts'
import { postgresUrl } from './postgres-url.ts'

export type { CreateOutcome, NewPlant, PlantStore } from './plant-store.ts'

/** The forms of STORE_URL, for a message and for the README. */
export const storeUrls = 'memory:, sqlite:PATH, postgres://USER@HOST/DATABASE or module:./PATH'

type Adapter = { shape: RegExp; open(url: string): Promise<PlantStore> }

const postgres: Adapter = {
  shape: postgresUrl,
  open: async (url) => (await import('./postgres.ts')).openPostgres(url),
}

const adapters = new Map<string, Adapter>([
  ['memory', { shape: /^memory:$/, open: async () => (await import('./memory.ts')).openMemory() }],
  ['sqlite', { shape: /^sqlite:.+$/, open: async (url) => (await import('./sqlite.ts')).openSqlite(url.slice(7)) }],
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

/** Takes a STORE_URL; gives the store, open. Only its own adapter is loaded. Rejects with the reason. */
export async function openStore(url: string): Promise<PlantStore> {
  const adapter = adapterOf(url)
  if (adapter === undefined) throw new Error(`it is no store's, allowed: ${storeUrls}`)
  return await adapter.open(url)
}

/** A STORE_URL for people to read: without its password, whatever that contains, as a part or as a parameter. */
export const withoutPassword = (url: string): string =>
  url.replace(/(:\/\/[^:/]*):.*@/s, '$1:***@').replace(/([?&]\w*password=)[^&]*/gi, '$1***')
