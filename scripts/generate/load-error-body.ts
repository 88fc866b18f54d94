import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyErrorBody } from '../../src/openapi/error-types.ts'

/** The module that makes the bodies of the service's errors. */
export const errorModule = 'src/error-body.ts'

/** When each module was last changed as it was first loaded. */
const loaded = new Map<string, number>()

/** What makes the bodies of a service's own errors, and the module that it is of. */
export type ErrorBodySource = { path: string; errorBody: AnyErrorBody }

/** Loads the function errorBody of a module as it is now. Rejects where the module has none. */
export async function loadErrorBody(path: string = errorModule): Promise<ErrorBodySource> {
  const url = pathToFileURL(resolve(path))
  const { mtimeMs } = statSync(url)
  // Node loads a module once by each URL.
  if ((loaded.get(url.href) ?? mtimeMs) !== mtimeMs) url.search = `changed=${mtimeMs}`
  else loaded.set(url.href, mtimeMs)
  const { errorBody } = await import(url.href)
  if (typeof errorBody === 'function') return { path, errorBody }
  throw new Error(`${path} exports no function errorBody; it makes the bodies of the service's errors`)
}
