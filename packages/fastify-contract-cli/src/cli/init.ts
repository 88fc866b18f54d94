import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { UsageError } from 'fastify-contract/token-command'
import { compileContract } from '../emit/compile.ts'
import { handlerStubs } from '../emit/handler-stubs.ts'
import { addPlugin } from '../init/add-plugin.ts'
import { checkedErrorBody } from '../init/checked-error-body.ts'
import { deriveErrorBody } from '../init/error-body.ts'
import { install } from '../init/install.ts'
import { readNamed, sample } from '../init/named-document.ts'
import { docsPage, leaveOut, partNames } from '../init/optional-files.ts'
import { ownPackages } from '../init/own-packages.ts'
import { packageManagerOf, settingsFile } from '../init/package-manager.ts'
import { compilerOptions, projectFiles } from '../init/project.ts'
import { askChoice, type Choice, canAsk } from '../init/questions.ts'
import { runtimeFor } from '../init/runtime.ts'
import { summary } from '../init/summary.ts'
import { writeNewFiles } from '../init/write-files.ts'
import { configurations, noConfiguration } from '../redocly/redocly.ts'
import { terminalText } from '../text/source-text.ts'
import { commandLine } from './command-line.ts'
import { writeFirstDocs } from './first-docs.ts'
import { fetchingStep, type Step, withProgress } from './progress.ts'
import { listOf } from './project-settings.ts'

/** Runs `fastify-contract init`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract init [DOCUMENT] [DIRECTORY] [OPTIONS]
fastify-contract init DOCUMENT --into DIRECTORY [OPTIONS]

Writes a service for an OpenAPI document into DIRECTORY (default: the current directory): a handler for each operation,
which returns the example of the document or a value made from the schema, the verifiers of its security schemes, the
bodies of its errors, the process around it, a test, the generated files, and the documentation. The service runs at
once, with npm install and npm start: without tsx if the Node.js that runs init strips types. The commands are those of
pnpm if that runs init, or has a file in or above DIRECTORY. If init itself is not from a registry, the project has its
packages as files, in vendor/.

DOCUMENT is a file or a URL of HTTPS. A document outside of DIRECTORY is copied with all its files. That of a URL is fetched
with the files of its origin to which it refers; fastify-contract generate --update fetches it again. Without DOCUMENT,
init asks for it on a terminal, and writes a sample with three operations elsewhere.

With --into, DIRECTORY has a Fastify application. Then init writes the handlers, the errors, the verifier of tokens and a
plugin with the operations, in the language and module system of the application, and prints what to add to it.

If one of the files that the service needs exists, init names it and writes nothing. Of the other files, it leaves out
those that exist.

The document may refer to files in its own directory and below, and init rejects a reference to any other file: a document
of somebody else must not decide what is read.

--into DIRECTORY      add the operations to the application in DIRECTORY, without changing one of its files
--install             install the packages of the project, so that npm start is the next command
--without PARTS       leave out files that the service does not need: some of ${partNames}
--sample              write the sample, into the only argument DIRECTORY
--allow-origin LIST   other origins to which a fetched document may refer, such as https://example.com, separated by commas
--include-outside     read and copy the files to which the document refers, wherever they are
--rules FILE          the configuration for bundling, such as decorators (default: none: the plugins of a redocly.yaml
                      are code, which a folder of somebody else must not run)
`,
    {
      into: undefined,
      install: false,
      without: '',
      'include-outside': false,
      rules: undefined,
      sample: false,
      'allow-origin': undefined,
    },
    ['DOCUMENT', 'DIRECTORY'],
    args,
  )
  const { into } = options
  if (into !== undefined && (words.length !== 1 || options.sample || options.install || options.without !== ''))
    throw new UsageError('init: --into needs DOCUMENT, and no DIRECTORY, --sample, --install and --without')
  const choice = await chosen(into === undefined ? words : [...words, into], options.sample)
  console.log(terminalText(await withProgress((step) => writeProject(choice, options, step))))
}

/** Returns what the words of the command line name, or a person names, or the sample. */
async function chosen(words: string[], isSample: boolean): Promise<Choice> {
  if (isSample && words.length > 1) throw new Error('init: --sample is the document; name only a DIRECTORY')
  const [document, directory] = isSample ? [sample, words[0]] : words
  if (document === undefined && canAsk()) return await askChoice(directory)
  return { document: document ?? sample, directory: directory ?? '.' }
}

/** The options of the command line. */
type Options = {
  into: string | undefined
  install: boolean
  without: string
  'include-outside': boolean
  rules: string | undefined
  'allow-origin': string | undefined
}

/** Writes a project, and returns the summary. */
async function writeProject({ document, directory }: Choice, options: Options, step: Step): Promise<string> {
  const allowOrigin = options['allow-origin']
  step(`reading ${document}`)
  const named = await readNamed(document, directory, {
    includeOutside: options['include-outside'],
    allowedOrigins: listOf(allowOrigin),
    onFile: fetchingStep(step),
  })
  const { sources, path, copies, origin } = named
  step('generating types, validators and handlers')
  const compiled = await compileContract(origin === undefined ? document : path, {
    rules: options.rules ?? noConfiguration,
    skipUnsupported: true,
    sources,
  })
  const handlers = handlerStubs(compiled, undefined, compilerOptions)
  const errors = checkedErrorBody(deriveErrorBody(compiled), compiled.files['api.d.ts'] as string)
  const manager = packageManagerOf(directory)
  const settings = settingsFile(manager, directory)
  const { engine, commands } = ownPackages(process.argv[1] as string)
  const generated = Object.fromEntries(
    Object.entries(compiled.files).map(([name, text]) => [join('generated', name), text]),
  )
  const unread =
    options.rules === undefined ? configurations.find((name) => existsSync(join(directory, name))) : undefined
  const told = { directory, copies, handlers, errors, compiled, unread, manager }
  if (options.into !== undefined) {
    const packages = { 'fastify-contract': engine, 'fastify-contract-cli': commands }
    return await addPlugin({ ...told, leftOut: [], document: path, origin, generated, packages })
  }
  const leftOut = leaveOut(listOf(options.without), directory, settings)
  const runtime = runtimeFor(process.versions.node)
  const packages = {
    dependencies: {
      'fastify-contract': engine.version,
      ...(runtime.command === 'tsx' && { tsx: rangeOf('tsx') }),
    },
    devDependencies: {
      '@types/node': runtime.types,
      'fastify-contract-cli': commands.version,
      typescript,
    },
  }
  const files = {
    ...projectFiles({
      compiled,
      document: path,
      origin,
      allowOrigin: origin && allowOrigin,
      errorBody: 'text' in errors ? errors.text : undefined,
      handlers,
      skipsOperations: compiled.skipped.length > 0,
      runtime,
      packages,
      manager,
      hasSettings: settings !== undefined,
      leftOut: leftOut.files,
    }),
    ...generated,
  }
  const vendored = [engine, commands].flatMap(({ to }) => to ?? [])
  step(`writing ${directory}`)
  await writeNewFiles(directory, files, copies, [engine, commands], 'name a new directory')
  // The package manager writes to the same terminal.
  step(options.install ? '' : 'writing the documentation')
  const [docs, isInstalled] = await Promise.all([
    leftOut.files.has(docsPage) ? undefined : writeFirstDocs(directory, compiled.files['openapi.json'] as string),
    options.install && install(manager, directory),
  ])
  const written = {
    ...told,
    files: [...Object.keys(files), ...vendored, ...(docs === undefined ? [] : [`${docs}/`])],
    settings,
    isInstalled,
    leftOut: leftOut.reasons,
  }
  return summary(written)
}

/** The versions of TypeScript, which is faster since 7. The commands have one of their own. */
const typescript = '^7.0.2'

/** Returns the versions of a package that a project may have: that of the commands, and newer ones without a breaking change. */
const rangeOf = (name: string): string => `^${createRequire(import.meta.url)(`${name}/package.json`).version}`
