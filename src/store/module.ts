import { pathToFileURL } from 'node:url'
import type { PlantStore } from './plant-store.ts'

/** The functions that the store of a module must have. */
const functions = Object.keys({ create: true, ready: true, close: true } satisfies Record<
  Exclude<keyof PlantStore, 'failure'>,
  true
>)

/**
 * Opens the store of a `module:PATH` URL: imports the JavaScript module, whose path is relative to the working
 * directory, and calls its `open(url)` with the whole URL. Throws when the module has no such function.
 */
export async function openModule(url: string): Promise<PlantStore> {
  const location = new URL(url.slice('module:'.length), pathToFileURL('./'))
  const { open } = await import(location.href)
  if (typeof open !== 'function') throw new Error('the module exports no function open')
  const store = await open(url)
  for (const name of functions) {
    if (typeof store?.[name] !== 'function')
      throw new Error(`open() returned a value without the function ${name}; return a store`)
  }
  // The service calls the functions on copies of this object, so they must not depend on `this`. A function that throws
  // or returns a plain value becomes one that returns a promise.
  const bind = (name: string) => [name, async (...args: unknown[]) => await store[name](...args)]
  const { failure } = store
  return {
    ...(Object.fromEntries(functions.map(bind)) as PlantStore),
    ...(failure !== undefined && { failure }),
  }
}
