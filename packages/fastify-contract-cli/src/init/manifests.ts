import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Returns the package.json of a directory; an empty object if it has none. */
export function manifestIn(directory: string) {
  const path = join(directory, 'package.json')
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
}

/** Returns a directory and those above it. */
export function directoriesFrom(directory: string): string[] {
  const own = resolve(directory)
  const above = dirname(own)
  return above === own ? [own] : [own, ...directoriesFrom(above)]
}
