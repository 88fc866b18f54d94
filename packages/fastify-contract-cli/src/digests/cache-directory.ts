import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Returns the directory for what can be made again: in the nearest node_modules in or above a directory, whose packages
 * run with the same rights. Returns undefined if there is none.
 */
export function cacheDirectory(directory: string): string | undefined {
  const modules = join(directory, 'node_modules')
  if (existsSync(modules)) return join(modules, '.cache', 'fastify-contract')
  const above = dirname(directory)
  return above === directory ? undefined : cacheDirectory(above)
}
