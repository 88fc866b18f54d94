import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { docsDirectory } from '../docs/source-mark.ts'
import { type Compiled, compileContract } from '../emit/compile.ts'
import { handlerStubs } from '../emit/handler-stubs.ts'
import { configurations, noConfiguration } from '../redocly/redocly.ts'
import { addPlugin } from './add-plugin.ts'
import { checkedErrorBody } from './checked-error-body.ts'
import { type DerivedErrorBody, deriveErrorBody } from './error-body.ts'
import { writeFirstDocs } from './first-docs.ts'
import { install } from './install.ts'
import { type NamedDocument, type NamedOptions, readNamed } from './named-document.ts'
import { docsPage, leaveOut } from './optional-files.ts'
import { ownPackages } from './own-packages.ts'
import { type PackageManager, packageManagerOf, settingsFile } from './package-manager.ts'
import { projectFiles } from './project.ts'
import type { Choice } from './questions.ts'
import { runtimeFor } from './runtime.ts'
import { summary } from './summary.ts'
import { writeNewFiles } from './write-files.ts'

/** What the command line of `init` asks for. */
export type ProjectRequest = Choice &
  NamedOptions & {
    /** Whether the directory has an application, to which the operations are added. */
    hasApplication: boolean
    /** Whether to install the packages of the project. */
    install: boolean
    /** The parts that are left out. */
    without: string[]
    /** The configuration for bundling. */
    rules: string | undefined
    /** Called before each step with what it does; the empty text lets another program write to the terminal. */
    onStep: (text: string) => void
  }

/** What the files of a project or of a plugin are written from. */
export type Draft = Pick<NamedDocument, 'copies' | 'origin' | 'overlays'> & {
  directory: string
  /** The path of the document within the directory. */
  document: string
  compiled: Compiled
  /** The generated files, by path. */
  generated: Record<string, string>
  handlers: string[]
  errors: DerivedErrorBody
  /** The packages that a project needs: the engine, and the commands for development. */
  packages: ReturnType<typeof ownPackages>
  manager: PackageManager
  /** The configuration of Redocly in the directory if it was not read. */
  unread: string | undefined
}

/**
 * Writes a new project for a document, or adds its operations to an existing application. Returns what to print: what was
 * written, what is not served and why, and the next commands.
 *
 * @throws {Error} If the document cannot be read, or one of the files exists. Then nothing is written.
 */
export async function writeProject(request: ProjectRequest): Promise<string> {
  const { document, directory, rules, onStep } = request
  onStep(`reading ${document}`)
  const { sources, path, copies, overlays, origin } = await readNamed(document, directory, request)
  onStep('generating types, validators and handlers')
  const compiled = await compileContract(origin === undefined ? document : path, {
    rules: rules ?? noConfiguration,
    skipUnsupported: true,
    sources,
  })
  const files = Object.entries(compiled.files)
  const draft: Draft = {
    directory,
    document: path,
    copies,
    overlays,
    origin,
    compiled,
    generated: Object.fromEntries(files.map(([name, text]) => [join('generated', name), text])),
    handlers: handlerStubs(compiled, undefined),
    errors: checkedErrorBody(compiled.document, deriveErrorBody(compiled)),
    packages: ownPackages(process.argv[1] as string),
    manager: packageManagerOf(directory),
    unread: rules === undefined ? configurations.find((name) => existsSync(join(directory, name))) : undefined,
  }
  return request.hasApplication ? await addPlugin(draft) : await writeService(draft, request)
}

/** Writes a new project. */
async function writeService(draft: Draft, request: ProjectRequest): Promise<string> {
  const { directory, copies, origin, compiled, generated, errors, manager } = draft
  const { engine, commands } = draft.packages
  const { allowedOrigins, onStep } = request
  const settings = settingsFile(manager, directory)
  const leftOut = leaveOut(request.without, directory, settings)
  const runtime = runtimeFor(process.versions.node)
  const files = projectFiles({
    ...draft,
    allowOrigin: origin && allowedOrigins.length > 0 ? allowedOrigins.join(', ') : undefined,
    errorBody: 'text' in errors ? errors.text : undefined,
    skipsOperations: compiled.skipped.length > 0,
    runtime,
    packages: {
      dependencies: {
        'fastify-contract': engine.version,
        ...(runtime.command === 'tsx' && { tsx: rangeOf('tsx') }),
      },
      devDependencies: {
        '@types/node': runtime.types,
        'fastify-contract-cli': commands.version,
        typescript,
      },
    },
    hasSettings: settings !== undefined,
    leftOut: leftOut.files,
  })
  onStep(`writing ${directory}`)
  const own = [engine, commands]
  const written = await writeNewFiles(directory, { ...files, ...generated }, copies, own, 'name a new directory')
  // The package manager writes to the same terminal.
  onStep(request.install ? '' : 'writing the documentation')
  const [docs, isInstalled] = await Promise.all([
    leftOut.files.has(docsPage) ? undefined : writeFirstDocs(directory, compiled),
    request.install && install(manager, directory),
  ])
  const pages = docs !== undefined && 'directory' in docs ? [`${docs.directory}/`] : []
  const lacking =
    docs !== undefined && 'reason' in docs ? [`${docsDirectory}, which ${manager} run docs writes: ${docs.reason}`] : []
  return summary(
    { ...draft, files: [...written, ...pages], leftOut: [...leftOut.reasons, ...lacking] },
    { settings, isInstalled },
  )
}

/** The versions of TypeScript, which is faster since 7. The commands have one of their own. */
const typescript = '^7.0.2'

/** Returns the versions of a package that a project may have: that of the commands, and newer ones without a breaking change. */
const rangeOf = (name: string): string => `^${createRequire(import.meta.url)(`${name}/package.json`).version}`
