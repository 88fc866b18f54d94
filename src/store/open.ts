import type { PlantStore } from './plant-store.ts'

/** The forms of STORE_URL, for a message and for the README. */
export const storeUrls = 'memory: or sqlite:PATH'

const adapters = new Map<string, (rest: string) => Promise<PlantStore>>([
  ['memory', async () => (await import('./memory.ts')).openMemory()],
  ['sqlite', async (path) => (await import('./sqlite.ts')).openSqlite(path)],
])

/** Whether a store can be opened from this URL; what it names may still be missing or broken. */
export const isStoreUrl = (url: string): boolean => /^(memory:|sqlite:.+)$/.test(url)

/** Takes a STORE_URL; gives the store, open. Only its own adapter is loaded. Rejects with the reason. */
export async function openStore(url: string): Promise<PlantStore> {
  const [, scheme = '', rest = ''] = /^(\w+):(.*)$/s.exec(url) ?? []
  const open = adapters.get(scheme)
  if (open === undefined) throw new Error(`no store for ${scheme}:, allowed: ${storeUrls}`)
  return await open(rest)
}
