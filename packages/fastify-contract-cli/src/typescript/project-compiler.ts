import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

/** The TypeScript of a project. */
export type ProjectCompiler = {
  /** The path of the JavaScript file that runs `tsc`. */
  tsc: string
  /** The path of the module with the compiler API; undefined if there is none, as in TypeScript 7.0. */
  api: string | undefined
  /** The text of its manifest, which differs between versions. */
  manifest: string
}

/**
 * Returns the `typescript` that a project has, in any version, or else that of this package. `typescript` may be an
 * alias, such as of @typescript/typescript6, whose command is `tsc6`.
 *
 * @param directory The directory of the project.
 */
export function projectCompiler(directory: string): ProjectCompiler {
  const path = manifestAbove(directory) ?? createRequire(import.meta.url).resolve('typescript/package.json')
  const manifest = readFileSync(path, 'utf8')
  const { bin } = JSON.parse(manifest) as { bin: Record<string, string> }
  const api = join(path, '..', 'lib', 'typescript.js')
  return {
    tsc: join(path, '..', bin.tsc ?? (Object.values(bin)[0] as string)),
    api: existsSync(api) ? api : undefined,
    manifest,
  }
}

/** Returns the path of the manifest. Does not resolve, since Node would not notice that another version was installed. */
function manifestAbove(directory: string): string | undefined {
  const places = createRequire(join(resolve(directory), 'package.json')).resolve.paths('typescript') as string[]
  return places.map((place) => join(place, 'typescript', 'package.json')).find((path) => existsSync(path))
}
