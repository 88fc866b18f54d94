import { existsSync, readFileSync } from 'node:fs'

/** The settings of a project, which `init` writes into its package.json, below `fastify-contract`. */
export type ProjectSettings = {
  /** The path of the OpenAPI document, relative to the package.json. */
  document?: string
  /** The URL from which `init` fetched the document. */
  origin?: string
  /** The module from which the samples of the documentation import createClient. */
  client?: string
  /** The origins besides that of `origin` to which the document may refer, separated by commas. */
  allowOrigin?: string
  /** The paths of the overlays of the document, relative to the package.json, in the order in which they apply. */
  overlays?: string[]
  /** Whether operations that cannot be served are accepted, as by --skip-unsupported. */
  skipUnsupported?: boolean
}

const types = {
  document: 'string',
  origin: 'string',
  allowOrigin: 'string',
  client: 'string',
  overlays: 'list of texts',
  skipUnsupported: 'boolean',
}

/**
 * Returns the settings in the package.json of the current directory; none if it has none.
 *
 * @throws {Error} If package.json is not JSON, or a setting is unknown or has another type; the message names it.
 */
export function projectSettings(): ProjectSettings {
  const settings = manifest()['fastify-contract'] ?? {}
  for (const [name, value] of Object.entries(settings as Record<string, unknown>)) {
    const type = Object.hasOwn(types, name) ? types[name as keyof typeof types] : undefined
    const place = `package.json, fastify-contract.${name}`
    if (type === undefined) throw new Error(`${place}: unknown setting; expected ${Object.keys(types).join(', ')}`)
    if (!isOfType(value, type)) throw new Error(`${place}: ${JSON.stringify(value)} is no ${type}; write a ${type}`)
  }
  return settings
}

const isOfType = (value: unknown, type: string): boolean =>
  type === 'list of texts'
    ? Array.isArray(value) && value.every((each) => typeof each === 'string')
    : typeof value === type

function manifest(): Record<string, unknown> {
  if (!existsSync('package.json')) return {}
  try {
    return JSON.parse(readFileSync('package.json', 'utf8'))
  } catch (error) {
    throw new Error(`package.json: ${(error as Error).message}; correct the JSON`)
  }
}

/** Returns the parts of a text that commas separate. */
export const listOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
