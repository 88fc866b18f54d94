import { existsSync, readFileSync } from 'node:fs'
import { isPathPrefix } from 'fastify-contract/contract'

/** The settings of a document, which `init` writes into the package.json of its project, below `fastify-contract`. */
export type DocumentSettings = {
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

/** The settings of one of several documents. */
type SettingsOfSeveral = DocumentSettings & {
  /** What precedes its paths in the service; default: a slash and its name. */
  prefix?: string
}

/** The settings of a document, with its name if the project has several. */
export type NamedSettings = { name: string | undefined; settings: SettingsOfSeveral }

const types = {
  document: 'string',
  origin: 'string',
  allowOrigin: 'string',
  client: 'string',
  overlays: 'list of texts',
  skipUnsupported: 'boolean',
}

const typesOfSeveral = { ...types, prefix: 'string' }

/** A name of a document, which is also that of directories, in any letter case, and a segment of a path. */
const documentName = /^[a-z\d]+(?:[._-][a-z\d]+)*$/

/**
 * Returns the settings in the package.json of the current directory: of the only document, without a name, or of each
 * document in `documents`. A project without settings has one document.
 *
 * @throws {Error} If package.json is not JSON, or a setting is unknown or has another type; the message names it.
 */
export function projectSettings(): [NamedSettings, ...NamedSettings[]] {
  const { documents, ...settings } = Object(manifest()['fastify-contract'] ?? {}) as Record<string, unknown>
  if (documents === undefined) {
    assertTypes(settings, settingsPlace, types, ['documents'])
    return [{ name: undefined, settings: settings as DocumentSettings }]
  }
  const [other] = Object.keys(settings)
  if (other !== undefined)
    throw new Error(
      `${settingsPlace}: documents and ${other} exclude each other; write ${other} into the documents that need it`,
    )
  return namedSettings(documents)
}

const settingsPlace = 'package.json, fastify-contract'

function namedSettings(documents: unknown): [NamedSettings, ...NamedSettings[]] {
  const place = `${settingsPlace}.documents`
  if (!isObject(documents)) throw new Error(`${place}: ${JSON.stringify(documents)} is no object; write an object`)
  const [first, ...others] = Object.entries(documents).map(function checked([name, settings]): NamedSettings {
    if (!documentName.test(name))
      throw new Error(
        `${place}: ${JSON.stringify(name)} is no name of a document; use lower-case letters and digits, with single ` +
          'hyphens, underscores or dots between them, such as v1',
      )
    if (!isObject(settings))
      throw new Error(`${place}.${name}: ${JSON.stringify(settings)} is no object; write an object`)
    assertTypes(settings, `${place}.${name}`, typesOfSeveral)
    if (settings.document === undefined)
      throw new Error(`${place}.${name}: the setting document is missing; write the path of the OpenAPI document`)
    const { prefix } = settings as SettingsOfSeveral
    if (prefix !== undefined && !isPathPrefix(prefix))
      throw new Error(
        `${place}.${name}.prefix: ${JSON.stringify(prefix)} is no prefix of paths; write segments that begin with a ` +
          'slash, such as /api/v1',
      )
    return { name, settings }
  })
  if (first === undefined) throw new Error(`${place} is empty; write a name with its document, such as v1`)
  const all: [NamedSettings, ...NamedSettings[]] = [first, ...others]
  for (const one of all)
    for (const other of all)
      if (one !== other && `${prefixOf(other)}/`.startsWith(`${prefixOf(one)}/`))
        throw new Error(
          `${place}: the prefix ${prefixOf(one)} of ${one.name} contains the prefix ${prefixOf(other)} of ${other.name}; ` +
            'use prefixes that do not contain others',
        )
  return all
}

/** Returns what precedes the paths of a document in the service; empty for the only document of a project. */
export const prefixOf = ({ name, settings }: NamedSettings): string =>
  name === undefined ? '' : (settings.prefix ?? `/${name}`)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Throws an Error if a setting is neither one of `types` nor one of `others`, or has another type. */
function assertTypes(
  settings: Record<string, unknown>,
  at: string,
  types: Record<string, string>,
  others: string[] = [],
): void {
  for (const [name, value] of Object.entries(settings)) {
    const type = Object.hasOwn(types, name) ? types[name] : undefined
    const place = `${at}.${name}`
    const expected = [...Object.keys(types), ...others].join(', ')
    if (type === undefined) throw new Error(`${place}: unknown setting; expected ${expected}`)
    if (!isOfType(value, type)) throw new Error(`${place}: ${JSON.stringify(value)} is no ${type}; write a ${type}`)
  }
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
