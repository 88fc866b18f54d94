import { join } from 'node:path'
import type { ErrorBodySource } from '../rules/error-bodies.ts'

/** The default module of errorBody, which makes the bodies of a service's errors. */
export const errorModule = join('src', 'error-body.ts')

/** The lines of the help about overlays. */
export const overlaysHelp = `\
--overlays LIST       the overlays of DOCUMENT, files separated by commas (default: those of package.json if DOCUMENT
                      is the one that it names)`

/** The lines of the help about one of several documents. */
export const onlyHelp = `\
--only NAME           one of several documents that package.json names (default: all; see docs/versions.md)`

/** The lines of the help of each command that compiles the document. */
export const documentHelp = `\
DOCUMENT              the OpenAPI document, also as --document FILE (default: that of package.json, or
                      openapi.yaml or the only openapi/*.yaml)
${onlyHelp}
${overlaysHelp}
--rules FILE          the configuration for bundling, such as decorators (default: redocly.yaml if it exists)
--skip-unsupported    accept operations that cannot be served; they respond with 501 (see skipped-operations.json)`

/** Loads errorBody from a module of the project, which may be TypeScript. */
export async function loadErrorModule(path: string): Promise<ErrorBodySource> {
  await registerTsx()
  const { loadErrorBody } = await import('../rules/error-bodies.ts')
  return await loadErrorBody(path)
}

/** Lets Node.js import TypeScript modules if tsx is installed. Without it, the version of Node.js must import them. */
export async function registerTsx(): Promise<void> {
  // The loader costs a thread. The sources of this command run under tsx anyway.
  if (!import.meta.filename.endsWith('.js')) return
  await import('tsx/esm/api').then(
    ({ register }) => register(),
    () => undefined,
  )
}

/** The default module of the handlers. */
export const handlersModule = join('src', 'handlers.ts')
