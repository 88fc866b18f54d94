import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UsageError } from 'fastify-contract/token-command'
import { type Compiled, compileContract } from '../emit/compile.ts'
import { handlerStubs } from '../emit/handler-stubs.ts'
import { skippedOperations } from '../emit/skipped-operations-json.ts'
import { type DerivedErrorBody, deriveErrorBody } from '../init/error-body.ts'
import {
  missingSettings,
  type PackageManager,
  packageManagerOf,
  settingsFile,
  versionsFor,
} from '../init/package-manager.ts'
import { checkedErrorBody, compilerOptions, projectFiles } from '../init/project.ts'
import { runtimeFor } from '../init/runtime.ts'
import { isWithin } from '../read/file-text.ts'
import { readSources } from '../read/source-files.ts'
import { configurations, noConfiguration } from '../redocly/redocly.ts'
import { shellPath } from '../text/foreign-text.ts'
import { terminalText } from '../text/source-text.ts'
import { commandLine } from './command-line.ts'

/** Runs `fastify-contract init`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract init DOCUMENT [DIRECTORY] [OPTIONS]

Writes a service for an OpenAPI document into DIRECTORY (default: the current directory): a handler for each operation,
which returns the example of the document or responds with 501, the verifiers of its security schemes, the bodies of its
errors, the process around it, a test, and the generated files. A document outside of DIRECTORY is copied with all its
files. The service runs at once, with npm install and npm start: without tsx if the Node.js that runs init strips types.
The commands are those of pnpm if that runs init, or has a file in or above DIRECTORY.

If one of these files exists, init names it and writes nothing. The document may refer to files in its own directory and
below, and init rejects a reference to any other file: a document of somebody else must not decide what is read.

--include-outside     read and copy the files to which the document refers, wherever they are
--rules FILE          the configuration for bundling, such as decorators (default: none: the plugins of a redocly.yaml
                      are code, which a folder of somebody else must not run)
`,
    { 'include-outside': false, rules: undefined },
    ['DOCUMENT', 'DIRECTORY'],
    args,
  )
  const [document, directory = '.'] = words
  if (document === undefined)
    throw new UsageError('init: name the OpenAPI document: fastify-contract init DOCUMENT [DIRECTORY]')
  if (/^https?:/.test(document)) throw new Error(`init: ${document} is a URL; download the document, and name the file`)
  if (!existsSync(document)) throw new Error(`init: ${document} does not exist; name an OpenAPI document`)
  const within = [dirname(document), ...(isWithin(directory, document) ? [directory] : [])]
  const sources = await readSources(document, options['include-outside'] ? undefined : within)
  const compiled = await compileContract(document, {
    rules: options.rules ?? noConfiguration,
    skipUnsupported: true,
    sources,
  })
  const handlers = handlerStubs(compiled, undefined, { madeToo: false, compilerOptions })
  const errors = checkedErrorBody(deriveErrorBody(compiled), compiled.files['api.d.ts'] as string)
  const { path, copies } = placeDocument([...sources.files.keys()], directory)
  const manager = packageManagerOf(directory)
  const settings = settingsFile(manager, directory)
  const engine = fileURLToPath(import.meta.resolve('fastify-contract'))
  const runtime = runtimeFor(process.versions.node)
  const packages = {
    dependencies: {
      'fastify-contract': versionFrom(engine, directory),
      ...(runtime.command === 'tsx' && { tsx: rangeOf('tsx') }),
    },
    devDependencies: {
      '@types/node': runtime.types,
      'fastify-contract-cli': versionFrom(import.meta.dirname, directory),
      typescript,
    },
  }
  const files = {
    ...projectFiles({
      compiled,
      document: path,
      errorBody: 'text' in errors ? errors.text : undefined,
      handlers,
      skipsOperations: compiled.skipped.length > 0,
      runtime,
      packages,
      manager,
      hasSettings: settings !== undefined,
    }),
    ...Object.fromEntries(Object.entries(compiled.files).map(([name, text]) => [join('generated', name), text])),
  }
  const existing = [...Object.keys(files), ...copies.map(({ to }) => to)].filter((name) =>
    existsSync(join(directory, name)),
  )
  if (existing.length > 0) {
    const names = firstOf(
      existing.map((name) => join(directory, name)),
      3,
    ).join(', ')
    throw new Error(
      `init: nothing is written, since ${names} already ${existing.length > 1 ? 'exist' : 'exists'}; name a new directory`,
    )
  }
  for (const { from, to } of copies) await copyFile(from, await placeFor(join(directory, to)))
  for (const [name, text] of Object.entries(files)) await writeFile(await placeFor(join(directory, name)), text)
  const unread =
    options.rules === undefined ? configurations.find((name) => existsSync(join(directory, name))) : undefined
  const written = {
    directory,
    copies,
    files: Object.keys(files),
    handlers,
    errors,
    compiled,
    unread,
    manager,
    settings,
  }
  console.log(terminalText(summary(written)))
}

type Copy = { from: string; to: string }

/**
 * Returns the path of the document in the project, and the files to copy; none if the document is there already.
 *
 * @param files The absolute paths of the files of the document, which is the first.
 */
function placeDocument(files: string[], directory: string): { path: string; copies: Copy[] } {
  const [document = ''] = files
  if (isWithin(directory, document)) return { path: relative(directory, document), copies: [] }
  if (files.length === 1) return { path: basename(document), copies: [{ from: document, to: basename(document) }] }
  const common = commonDirectory(files.map((file) => dirname(file)))
  const copies = files.map((from) => ({ from, to: join('openapi', relative(common, from)) }))
  return { path: (copies[0] as Copy).to, copies }
}

/** Returns the deepest directory that contains all of the given absolute ones. */
function commonDirectory([first = '', ...others]: string[]): string {
  const above = dirname(first)
  return above === first || others.every((other) => isWithin(first, other))
    ? first
    : commonDirectory([above, ...others])
}

async function placeFor(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  return path
}

/** The versions of TypeScript, which is faster since 7. The commands have one of their own. */
const typescript = '^7.0.2'

/** Returns the versions of a package that a project may have: that of the commands, and newer ones without a breaking change. */
const rangeOf = (name: string): string => `^${createRequire(import.meta.url)(`${name}/package.json`).version}`

/** Returns the versions of the package with a module for the manifest of a project. */
const versionFrom = (module: string, directory: string): string =>
  versionsFor(
    JSON.parse(readFileSync(join(module, '..', '..', 'package.json'), 'utf8')),
    process.argv[1] as string,
    directory,
  )

type Written = {
  directory: string
  copies: Copy[]
  files: string[]
  handlers: string[]
  errors: DerivedErrorBody
  compiled: Compiled
  /** The configuration of Redocly in the directory if it was not read. */
  unread: string | undefined
  manager: PackageManager
  /** The file with the settings of the package manager if init did not write it. */
  settings: string | undefined
}

function summary({ directory, copies, files, handlers, errors, compiled, unread, manager, settings }: Written): string {
  const missing: string[] = []
  for (const handler of handlers)
    if (/^ {4}throw /m.test(handler)) missing.push(/^ {2}async '?(.*?)'?\(\): /m.exec(handler)?.[1] as string)
  const written = [...copies.map(({ to }) => to), ...files.filter((name) => !name.startsWith('generated'))]
  const { warnings, skipped } = compiled
  const [warning = ''] = warnings
  const generate = `${manager} run generate`
  const lacking = settings === undefined ? undefined : missingSettings(manager, settings)
  return [
    `Wrote to ${resolve(directory)}: ${written.join(', ')}, generated/`,
    '',
    handlers.length === 0
      ? 'The document has no operations.'
      : `${handlers.length - missing.length} of ${handlers.length} operations respond with their example, or without a body.`,
    ...(skipped.length === 0
      ? []
      : [
          `Not counted: ${skippedOperations(skipped).length} that cannot be served as the document describes them; these respond with 501:`,
          ...firstOf(
            skipped.map(({ pointer, text }) => `  ${pointer}: ${text}`),
            5,
            '  ',
          ),
          `generated/skipped-operations.json lists them with the reasons. ${generate} skips them.`,
        ]),
    ...(missing.length > 0
      ? [
          `These have no example of a success, and respond with 501 until you write them: ${firstOf(missing, 10).join(', ')}`,
        ]
      : []),
    ...('text' in errors
      ? ['src/error-body.ts creates the body of errors as the document describes it.']
      : [
          'Errors are plain text, because the document describes members that only you can fill:',
          ...firstOf(distinct(errors.reasons), 10, '  '),
          'Write src/error-body.ts, and use it in src/app.ts: node_modules/fastify-contract/docs/handlers.md has an example.',
        ]),
    ...(warnings.length > 1 ? [`${generate} prints ${warnings.length} warnings about the document.`] : []),
    ...(warnings.length === 1 ? [`${generate} prints a warning about the document: ${warning}`] : []),
    ...(unread === undefined
      ? []
      : [`init did not read ${unread}, since its plugins are code; ${generate} reads it and runs them.`]),
    '',
    'Next:',
    ...(relative('.', directory) === '' ? [] : [`  cd ${shellPath(directory)}`]),
    `  ${manager} install`,
    `  ${manager} start`,
    ...(lacking === undefined
      ? []
      : ['', `Before, add to ${settings}, since esbuild works without its install script:`, lacking]),
  ].join('\n')
}

/** Returns the first entries of a list, and how many more there are. */
const firstOf = (list: string[], count: number, indent = ''): string[] =>
  list.length > count ? [...list.slice(0, count), `${indent}${list.length - count} more`] : list

/** Returns a line for each distinct text of lines `POINTER: TEXT`, with its first pointer and the number of the others. */
function distinct(lines: string[]): string[] {
  const pointers = new Map<string, string[]>()
  for (const line of lines) {
    const [, pointer = '', text = ''] = /^(#\S*): (.*)$/s.exec(line) ?? [line, '', line]
    pointers.set(text, [...(pointers.get(text) ?? []), pointer])
  }
  const told: string[] = []
  for (const [text, [first = '', ...others]] of pointers) {
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    told.push(first === '' ? `  ${text}` : `  ${first}${more}: ${text}`)
  }
  return told
}
