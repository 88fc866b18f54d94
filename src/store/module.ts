import { pathToFileURL } from 'node:url'
import type { PlantStore } from './plant-store.ts'

/**
 * Takes `module:PATH`, where the path is that of a JavaScript module, from the working directory; calls its
 * `open(url)` with the whole URL and gives the store that it resolves to. Throws when the module has no such function.
 */
export async function openModule(url: string): Promise<PlantStore> {
  const location = new URL(url.slice('module:'.length), pathToFileURL('./'))
  const { open } = await import(location.href)
  if (typeof open !== 'function') throw new Error('the module exports no function open')
  const store = await open(url)
  for (const name of ['create', 'ready', 'close']) {
    if (typeof store?.[name] !== 'function') throw new Error(`its open gives no store: it has no function ${name}`)
  }
  return store
}
