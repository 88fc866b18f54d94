import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { UsageError } from 'fastify-contract/token-command'
import { docsDefaults } from '../docs/source-mark.ts'
import { visible } from '../text/source-text.ts'
import { errorModule } from './project-files.ts'
import { type DocumentSettings, listOf, type NamedSettings, prefixOf, projectSettings } from './project-settings.ts'
import { reportError } from './report-error.ts'

/** What a command line names of the documents of a project. */
export type Selection = {
  /** The DOCUMENT, a path or a URL; default: each document of the project. */
  given?: string | undefined
  /** The value of --only, the name of a document. */
  only?: string | undefined
  /** The value of --overlays, paths separated by commas; default: those of package.json. */
  overlays?: string | undefined
}

/** A document on which a command works, and where its files are. */
export class ProjectDocument {
  /** The name in package.json; undefined for the only document of a project, and for one of the command line. */
  readonly name: string | undefined
  readonly settings: NamedSettings['settings']
  readonly #given: string | undefined
  readonly #overlays: string | undefined

  constructor({ name, settings }: NamedSettings, { given, overlays }: Selection = {}) {
    this.name = name
    this.settings = settings
    this.#given = given
    this.#overlays = overlays
  }

  /** The prefix of its paths in a service that serves several documents; empty for the only one. */
  get prefix(): string {
    return prefixOf(this)
  }

  /**
   * Returns the path of the document: that of the command line or of the settings, or openapi.yaml (or .yml, .json), or
   * the only such file in the directory openapi. Throws an Error if there is none.
   */
  path(): string {
    const named = this.#given ?? this.settings.document
    if (named !== undefined) {
      if (existsSync(named) || /^https?:/.test(named)) return named
      throw new Error(`${named} does not exist; name an OpenAPI document`)
    }
    const own = ['openapi.yaml', 'openapi.yml', 'openapi.json'].find((name) => existsSync(name))
    if (own !== undefined) return own
    const names = existsSync('openapi') ? readdirSync('openapi').filter((name) => documentFile.test(name)) : []
    if (names[0] === undefined || names.length > 1) {
      throw new Error('there is neither openapi.yaml nor one openapi/*.yaml; name the document')
    }
    return join('openapi', names[0])
  }

  /** Returns the paths of the overlays: those of --overlays, or else those of the settings if these name the document. */
  overlays(): string[] {
    if (this.#overlays !== undefined) return listOf(this.#overlays)
    return this.#given === undefined || isNamedBy(this.settings, this.#given) ? (this.settings.overlays ?? []) : []
  }

  /** Returns the directory of its files in a directory of the project. */
  in(directory: string): string {
    return this.name === undefined ? directory : join(directory, this.name)
  }

  /** Returns the directory of its pages in that of all pages: the one in which the service looks, by the prefix. */
  pagesIn(directory: string): string {
    return join(directory, this.prefix)
  }

  /** Returns the path of its own file of a kind, by the path of that file in a project with one document. */
  own(file: string): string {
    return join(this.in(dirname(file)), basename(file))
  }

  /** Returns the module of errorBody: its own, or that of the project; undefined if there is neither. */
  errorModule(given: string | undefined): string | undefined {
    const own = this.own(given ?? errorModule)
    if (given !== undefined) return existsSync(own) ? own : given
    return [own, errorModule].find((path) => existsSync(path))
  }

  /** Returns the module from which the samples of the documentation import createClient, unless an option names another. */
  client(given: string | undefined): string {
    return given ?? this.settings.client ?? docsDefaults.client
  }

  /** Returns whether operations that cannot be served are accepted, by the option or by the settings. */
  skipsUnsupported(given: boolean): boolean {
    return given || (this.settings.skipUnsupported ?? false)
  }
}

/** The names of files that a command takes for the document by itself. */
const documentFile = /\.(?:ya?ml|json)$/

/** Returns whether settings name a document, by its path or its URL. Settings that name none are those of any document. */
const isNamedBy = ({ document, origin }: DocumentSettings, given: string): boolean =>
  document === undefined || given === origin || resolve(given) === resolve(document)

/** The documents of a project, one at least. */
export type ProjectDocuments = [ProjectDocument, ...ProjectDocument[]]

/**
 * Returns the documents on which a command works: those of the project, the one that --only names, or the one of the
 * command line. If that is a file of `documents`, it has its name.
 *
 * @throws {UsageError} If there is no document with the name of --only.
 */
export function projectDocuments(selection: Selection = {}): ProjectDocuments {
  const { given, only, overlays } = selection
  const [first, ...others] = projectSettings()
  if (given !== undefined) {
    if (only !== undefined) throw new UsageError('DOCUMENT and --only exclude each other; leave one out')
    const none = { name: undefined, settings: {} }
    const known = first.name === undefined ? first : [first, ...others].find((one) => isNamedBy(one.settings, given))
    return [new ProjectDocument(known ?? none, selection)]
  }
  if (only === undefined) {
    if (overlays !== undefined && others.length > 0) throw needsOne('--overlays')
    return [new ProjectDocument(first, selection), ...others.map((one) => new ProjectDocument(one))]
  }
  const found = [first, ...others].find(({ name }) => name === only)
  if (found !== undefined) return [new ProjectDocument(found, selection)]
  const names = documentNames()
  throw new UsageError(
    names.length === 0
      ? '--only: package.json has no fastify-contract.documents; leave out --only'
      : `--only: there is no document ${JSON.stringify(only)}; expected ${names.join(', ')}`,
  )
}

/** Returns the names of the documents of the project; none if it has one without a name. */
export const documentNames = (): string[] => projectSettings().flatMap(({ name }) => name ?? [])

/** Returns the prefixes of the documents of the project; none if it has one without a name. */
export const documentPrefixes = (): string[] => {
  const all = projectSettings()
  return all[0].name === undefined ? [] : all.map(prefixOf)
}

/** Returns the error of an option that belongs to one document, in a project with several. */
export const needsOne = (option: string): UsageError =>
  new UsageError(`${option} is of one document, and package.json names several; choose one with --only NAME`)

/** How a command separates its output about several documents. */
export type Output =
  /** A line with the name and the path precedes it. */
  | 'titled'
  /** It tells by itself. */
  | 'plain'
  /** It is one text in JSON for each document, a member of the object that is printed at the end. */
  | 'json'

/**
 * Calls a function for each document in order, with a function that prints the result. If there are several, a failure does
 * not keep the next ones from being worked on: it is reported with the name of its document, and the exit code is the
 * highest of all.
 */
export async function forEachDocument(
  documents: ProjectDocuments,
  output: Output,
  run: (document: ProjectDocument, print: (text: string) => void) => Promise<void>,
): Promise<void> {
  const [first, ...others] = documents
  if (others.length === 0) return await run(first, console.log)
  const members: string[] = []
  let worst = 0
  for (const document of documents) {
    const { name, settings } = document
    const print = (text: string) => {
      if (output === 'json') members.push(`${JSON.stringify(name)}: ${text}`)
      else console.log(text)
    }
    if (output === 'titled') console.log(visible(`${name}: ${settings.document}`))
    process.exitCode = 0
    await run(document, print).catch((error: Error) => reportError(error, name))
    worst = Math.max(worst, Number(process.exitCode))
  }
  if (output === 'json') console.log(`{\n${members.join(',\n')}\n}`)
  process.exitCode = worst
}
