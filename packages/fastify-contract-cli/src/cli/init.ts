import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { UsageError } from 'fastify-contract/token-command'
import { compileContract } from '../emit/compile.ts'
import { handlerStubs } from '../emit/handler-stubs.ts'
import { addPlugin } from '../init/add-plugin.ts'
import { checkedErrorBody } from '../init/checked-error-body.ts'
import { deriveErrorBody } from '../init/error-body.ts'
import { install } from '../init/install.ts'
import { docsPage, leaveOut, partNames } from '../init/optional-files.ts'
import { ownPackages } from '../init/own-packages.ts'
import { packageManagerOf, settingsFile } from '../init/package-manager.ts'
import { placeDocument } from '../init/place-document.ts'
import { compilerOptions, projectFiles } from '../init/project.ts'
import { runtimeFor } from '../init/runtime.ts'
import { summary } from '../init/summary.ts'
import { writeNewFiles } from '../init/write-files.ts'
import { isWithin } from '../read/file-text.ts'
import { readSources } from '../read/source-files.ts'
import { configurations, noConfiguration } from '../redocly/redocly.ts'
import { terminalText } from '../text/source-text.ts'
import { commandLine } from './command-line.ts'
import { writeFirstDocs } from './first-docs.ts'

/** Runs `fastify-contract init`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract init DOCUMENT [DIRECTORY] [OPTIONS]
fastify-contract init DOCUMENT --into DIRECTORY [OPTIONS]

Writes a service for an OpenAPI document into DIRECTORY (default: the current directory): a handler for each operation,
which returns the example of the document or a value made from the schema, the verifiers of its security schemes, the
bodies of its errors, the process around it, a test, the generated files, and the documentation. A document outside of
DIRECTORY is copied with all its files. The service runs at once, with npm install and npm start: without tsx if the
Node.js that runs init strips types. The commands are those of pnpm if that runs init, or has a file in or above
DIRECTORY. If init itself is not from a registry, the project has its packages as files, in vendor/.

With --into, DIRECTORY has a Fastify application. Then init writes the handlers, the errors, the verifier of tokens and a
plugin with the operations, in the language and module system of the application, and prints what to add to it.

If one of the files that the service needs exists, init names it and writes nothing. Of the other files, it leaves out
those that exist. The document may refer to files in its own directory and
below, and init rejects a reference to any other file: a document of somebody else must not decide what is read.

--into DIRECTORY      add the operations to the application in DIRECTORY, without changing one of its files
--install             install the packages of the project, so that npm start is the next command
--without PARTS       leave out files that the service does not need: some of ${partNames}
--include-outside     read and copy the files to which the document refers, wherever they are
--rules FILE          the configuration for bundling, such as decorators (default: none: the plugins of a redocly.yaml
                      are code, which a folder of somebody else must not run)
`,
    { into: undefined, install: false, without: '', 'include-outside': false, rules: undefined },
    ['DOCUMENT', 'DIRECTORY'],
    args,
  )
  const { into } = options
  const [document, directory = into ?? '.'] = words
  if (into !== undefined && (words.length > 1 || options.install || options.without !== ''))
    throw new UsageError('init: --into names the directory; leave out DIRECTORY, --install and --without')
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
  const handlers = handlerStubs(compiled, undefined, compilerOptions)
  const errors = checkedErrorBody(deriveErrorBody(compiled), compiled.files['api.d.ts'] as string)
  const { path, copies } = placeDocument([...sources.files.keys()], directory)
  const unread =
    options.rules === undefined ? configurations.find((name) => existsSync(join(directory, name))) : undefined
  const manager = packageManagerOf(directory)
  const settings = settingsFile(manager, directory)
  const generated = Object.fromEntries(
    Object.entries(compiled.files).map(([name, text]) => [join('generated', name), text]),
  )
  const { engine, commands } = ownPackages(process.argv[1] as string)
  const told = { directory, copies, handlers, errors, compiled, unread, manager }
  if (into !== undefined) {
    const packages = { 'fastify-contract': engine, 'fastify-contract-cli': commands }
    const text = await addPlugin({ ...told, leftOut: [], document: path, generated, packages })
    return console.log(terminalText(text))
  }
  const leftOut = leaveOut(options.without, directory, settings)
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
  const own = [engine, commands]
  await writeNewFiles(directory, files, copies, own, 'name a new directory')
  const [docs, isInstalled] = await Promise.all([
    leftOut.files.has(docsPage) ? undefined : writeFirstDocs(directory, compiled.files['openapi.json'] as string),
    options.install && install(manager, directory),
  ])
  const vendored = own.flatMap(({ to }) => to ?? [])
  const written = {
    ...told,
    files: [...Object.keys(files), ...vendored, ...(docs === undefined ? [] : [`${docs}/`])],
    settings,
    isInstalled,
    leftOut: leftOut.reasons,
  }
  console.log(terminalText(summary(written)))
}

/** The versions of TypeScript, which is faster since 7. The commands have one of their own. */
const typescript = '^7.0.2'

/** Returns the versions of a package that a project may have: that of the commands, and newer ones without a breaking change. */
const rangeOf = (name: string): string => `^${createRequire(import.meta.url)(`${name}/package.json`).version}`
