import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { docsDefaults } from '../docs/source-mark.ts'
import type { ErrorBodySource } from '../rules/error-bodies.ts'
import { listOf, projectSettings } from './project-settings.ts'

/** The default module of errorBody, which makes the bodies of a service's errors. */
export const errorModule = join('src', 'error-body.ts')

/** Returns the default module of errorBody if there is one. */
export const findErrorModule = (): string | undefined => (existsSync(errorModule) ? errorModule : undefined)

/** The lines of the help about overlays. */
export const overlaysHelp = `\
--overlays LIST       the overlays of DOCUMENT, files separated by commas (default: those of package.json if DOCUMENT
                      is the one that it names)`

/** The lines of the help of each command that compiles the document. */
export const documentHelp = `\
DOCUMENT              the OpenAPI document, also as --document FILE (default: that of package.json, or
                      openapi.yaml or the only openapi/*.yaml)
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

/** Returns whether the project accepts operations that cannot be served without --skip-unsupported. */
export const skipsUnsupported = (): boolean => projectSettings().skipUnsupported ?? false

/** Returns the module from which the samples of the documentation import createClient, unless an option names another. */
export const sampleClient = (): string => projectSettings().client ?? docsDefaults.client

/**
 * Returns the paths of the overlays of a document: those of an option, or else those of the settings, unless these name
 * another document.
 */
export function overlaysOf(document: string, given: string | undefined): string[] {
  if (given !== undefined) return listOf(given)
  const { document: own, origin, overlays = [] } = projectSettings()
  const isOwn = own === undefined || document === origin || resolve(document) === resolve(own)
  return isOwn ? overlays : []
}

/** The names of files that a command takes for the document by itself. */
const documentName = /\.(?:ya?ml|json)$/

/**
 * Returns the path of the OpenAPI document of a project: the given one, or that of the settings, or openapi.yaml (or .yml,
 * .json), or the only such file in the directory openapi.
 */
export function findDocument(given: string | undefined): string {
  const named = given ?? projectSettings().document
  if (named !== undefined) {
    if (existsSync(named) || /^https?:/.test(named)) return named
    throw new Error(`${named} does not exist; name an OpenAPI document`)
  }
  const own = ['openapi.yaml', 'openapi.yml', 'openapi.json'].find((name) => existsSync(name))
  if (own !== undefined) return own
  const names = existsSync('openapi') ? readdirSync('openapi').filter((name) => documentName.test(name)) : []
  if (names[0] === undefined || names.length > 1) {
    throw new Error('there is neither openapi.yaml nor one openapi/*.yaml; name the document')
  }
  return join('openapi', names[0])
}
