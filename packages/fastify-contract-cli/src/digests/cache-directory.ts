import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Returns the cache directory in the nearest node_modules in or above a directory; undefined if there is none. A cache may
 * hold code that runs. Those who can write into node_modules can change the code of the packages anyway.
 */
export function cacheDirectory(directory: string): string | undefined {
  const modules = join(directory, 'node_modules')
  if (existsSync(modules)) return join(modules, '.cache', 'fastify-contract')
  const above = dirname(directory)
  return above === directory ? undefined : cacheDirectory(above)
}
