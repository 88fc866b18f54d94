import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyErrorBody } from '../serve/error-writer.ts'

/** The module that makes the bodies of the service's own errors. */
export const errorModule = 'src/error-body.ts'

/** The modification time in milliseconds that each module had when it was first loaded, by URL. */
const loaded = new Map<string, number>()

/** The function that makes the bodies of a service's own errors, and the path of its module. */
export type ErrorBodySource = { path: string; errorBody: AnyErrorBody }

/** Loads the function errorBody from the current state of a module. Rejects if the module or its errorBody is missing. */
export async function loadErrorBody(path: string = errorModule): Promise<ErrorBodySource> {
  const url = pathToFileURL(resolve(path))
  const { mtimeMs } = statSync(url, { throwIfNoEntry: false }) ?? {}
  if (mtimeMs === undefined) {
    throw new Error(`${path} does not exist; correct the path, or add the module with a function errorBody`)
  }
  // Node caches a module by its URL, so a changed module needs a new one.
  if ((loaded.get(url.href) ?? mtimeMs) !== mtimeMs) url.search = `changed=${mtimeMs}`
  else loaded.set(url.href, mtimeMs)
  const { errorBody } = await import(url.href)
  if (typeof errorBody === 'function') return { path, errorBody }
  throw new Error(`${path} does not export a function errorBody; add one that returns the body of an error`)
}
