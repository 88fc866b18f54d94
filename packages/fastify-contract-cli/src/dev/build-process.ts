import { once } from 'node:events'
import { mkdir, symlink } from 'node:fs/promises'
import { dirname, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { requiredScopes } from 'fastify-contract'
import { addedPrefix, exampleCommand, type Routes } from 'fastify-contract/contract'
import { compileContract } from '../emit/compile.ts'
import { updateGenerated } from '../emit/generated-files.ts'
import { loadErrorBody } from '../rules/error-bodies.ts'
import { visible } from '../text/source-text.ts'
import { checkTypes } from '../typescript/type-checker.ts'
import type { BuildMessage, BuildReply, BuildRequest, BundleReply, DevDocument, DevOptions } from './reloader.ts'
import { type BundleService, serviceBundler } from './service-bundle.ts'

/*
 * The build process of the command dev. It is separate because a type check takes seconds and would block the
 * connections that the main process forwards. The first argument is the DevOptions as JSON.
 */

const options: DevOptions = JSON.parse(process.argv[2] as string)
const bundle = await loadBundle()
/** Resolves when the documentation is written. Only one process at a time writes it. */
let writing = Promise.resolve()
/** The URL of the service for clients. */
let serviceUrl = ''
/** The routes of each document, and what precedes their paths; undefined until all documents are generated. */
let routes: { prefix: string; routes: Routes }[] | undefined
/** What precedes the paths of each document, of which the documentation may be written while it is generated again. */
let prefixes: string[] = []
/** The number of the last snapshot whose types are to be checked. */
let last = 0
/** Resolves with the messages of the compiler about that snapshot. Only one check runs at a time. */
let checking = Promise.resolve('')

// A terminal sends SIGINT to every process of the group; the main process ends this one.
process.on('SIGINT', () => {})
// The bundler keeps this process alive.
process.on('disconnect', () => process.exit())

process.on('message', async (message: BuildMessage) => {
  if (message === 'write docs') writing = writing.then(writePages)
  else await takeSnapshot(message)
})

function reply(value: BuildReply): void {
  // The main process may have ended during the build; without a callback, the failure to send would be thrown.
  process.send?.(value, () => {})
}

/** Generates, bundles and type-checks the current state of the service, and replies with the bundle before the types. */
async function takeSnapshot(request: BuildRequest): Promise<void> {
  const { snapshot } = request
  reply({ snapshot, bundle: await bundled(request).catch(({ message }: Error) => ({ error: message })) })
  reply({ snapshot, messages: await checking })
}

async function bundled({
  snapshot,
  directory,
  hasNewDocument,
  isServed,
  url,
  token,
}: BuildRequest): Promise<BundleReply> {
  serviceUrl = url
  if (hasNewDocument) routes = undefined
  const hasWritten = routes === undefined && (await generateAll()) > 0
  if (isServed && !hasWritten) return 'unchanged'
  const messages = checkTypesOf(snapshot, join(dirname(directory), 'types'))
  checking = messages
  // The bundler fails for some of the same errors, and the messages of the compiler are better.
  const packages = await bundleInto(directory).catch(async (error: Error) => {
    throw new Error((await messages) || error.message)
  })
  const all = routes ?? []
  const examples = all.flatMap(({ prefix, routes }) => exampleCommand(routes, url + prefix, token) ?? [])
  return {
    example: examples.length === 0 ? undefined : examples.join('\n'),
    scopes: requiredScopes(all.flatMap(({ routes }) => routes.operations)).join(' '),
    packages,
  }
}

/** Returns the messages of the compiler about a snapshot, unless there is a newer one once the last check has ended. */
async function checkTypesOf(snapshot: number, directory: string): Promise<string> {
  last = snapshot
  await checking
  if (snapshot !== last) return ''
  return await checkTypes(options.entry, directory).then(
    () => '',
    ({ message }: Error) => message,
  )
}

/** Bundles the service. Returns the installed packages that it imports, as far as they are known. */
async function bundleInto(directory: string): Promise<string[]> {
  const packages = await bundle(join(directory, 'dist'))
  await mkdir(options.docs, { recursive: true })
  await symlink(resolve(options.docs), join(directory, 'dist', 'docs'), 'junction')
  return packages
}

/** Writes the documentation unless it is up to date. */
async function writePages(): Promise<void> {
  const module = new URL(`../dev/write-pages${extname(import.meta.filename)}`, import.meta.url)
  const serviceUrls = prefixes.map((prefix) => serviceUrl + prefix)
  const writer = new Worker(module, { workerData: { ...options, serviceUrls } })
  await once(writer, 'exit').catch(({ message }: Error) =>
    console.error(`dev: the documentation is not written: ${message}`),
  )
}

/**
 * Generates the files of each document. Returns how many had changed. Rejects with the messages of all documents that
 * cannot be served.
 */
async function generateAll(): Promise<number> {
  let written = 0
  const generated: NonNullable<typeof routes> = []
  const messages: string[] = []
  for (const each of options.documents) {
    try {
      const { names, contract } = await generate(each)
      written += names.length
      generated.push({ prefix: prefixOf(contract.routes, each.prefix), routes: contract.routes })
    } catch (error) {
      messages.push(`${each.name === undefined ? '' : `${each.name}: `}${(error as Error).message}`)
    }
  }
  if (messages.length > 0) throw new Error(messages.join('\n'))
  routes = generated
  prefixes = generated.map(({ prefix }) => prefix)
  return written
}

/** Returns what precedes the paths of a document in the service. */
const prefixOf = ({ operations }: Routes, prefix: string): string =>
  addedPrefix(
    operations.flatMap(({ servedPaths }) => servedPaths.map(({ path }) => path)),
    prefix,
  )

/** Generates the files of a document. Returns the names of those that had changed. */
async function generate({ document, overlays, errors, out, handlers, skipUnsupported }: DevDocument) {
  const compiled = await compileContract(document, {
    overlays,
    rules: options.rules,
    errors: errors === undefined ? undefined : await loadErrorBody(errors),
    skipUnsupported,
  })
  for (const warning of compiled.warnings) console.warn(visible(`${document}: ${warning}`))
  const names = await updateGenerated(compiled, out, handlers)
  if (names.length > 0) console.log(`dev: wrote ${names.join(', ')}`)
  return { names, contract: compiled.contract }
}

/** Returns the function that bundles the service into a directory: that of --bundle, or one that calls esbuild. */
async function loadBundle(): Promise<BundleService> {
  if (options.bundle === undefined) return serviceBundler(options.entry, options.documents)
  const { bundle } = await import(pathToFileURL(resolve(options.bundle)).href)
  return (directory) => bundle(directory).then(() => [])
}
