import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'

/**
 * Returns the path of the JavaScript file that runs `tsc`: of the `typescript` that a project has, in any version, or
 * else of this package. `typescript` may be an alias, such as of @typescript/typescript6, whose command is `tsc6`.
 *
 * @param directory The directory of the project.
 */
export function tscOf(directory: string): string {
  const manifest =
    manifestAbove(resolve(directory)) ?? createRequire(import.meta.url).resolve('typescript/package.json')
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> }
  return join(manifest, '..', bin.tsc ?? (Object.values(bin)[0] as string))
}

/** Returns the path of the manifest. Does not resolve, since Node would not notice that another version was installed. */
function manifestAbove(directory: string): string | undefined {
  const manifest = join(directory, 'node_modules', 'typescript', 'package.json')
  const above = dirname(directory)
  if (existsSync(manifest)) return manifest
  return above === directory ? undefined : manifestAbove(above)
}
