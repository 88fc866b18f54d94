import { once } from 'node:events'
import { mkdir, symlink } from 'node:fs/promises'
import { dirname, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { requiredScopes } from 'fastify-contract'
import { exampleCommand, type Routes } from 'fastify-contract/contract'
import { compileContract } from '../emit/compile.ts'
import { updateGenerated } from '../emit/generated-files.ts'
import { loadErrorBody } from '../rules/error-bodies.ts'
import { visible } from '../text/source-text.ts'
import { checkTypes } from '../typescript/type-checker.ts'
import type { BuildMessage, BuildReply, BuildRequest, DevOptions } from './reloader.ts'
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
/** The routes of the document; undefined until it is generated. */
let routes: Routes | undefined

// A terminal sends SIGINT to every process of the group; the main process ends this one.
process.on('SIGINT', () => {})
// The bundler keeps this process alive.
process.on('disconnect', () => process.exit())

process.on('message', async (message: BuildMessage) => {
  if (message === 'write docs') writing = writing.then(writePages)
  else reply(await takeSnapshot(message).catch(({ message }: Error) => ({ error: message })))
})

function reply(value: BuildReply): void {
  // The main process may have ended during the build; without a callback, the failure to send would be thrown.
  process.send?.(value, () => {})
}

/** Generates, bundles and type-checks the current state of the service into a directory. */
async function takeSnapshot({ directory, hasNewDocument, url, token }: BuildRequest): Promise<'checked'> {
  serviceUrl = url
  if (hasNewDocument) routes = undefined
  routes ??= await generate()
  const checked = checkTypes(options.entry, join(dirname(directory), 'types'))
  // The bundler fails for some of the same errors, and the messages of the compiler are better.
  const packages = await bundleInto(directory).catch((error) => checked.then(() => Promise.reject(error)))
  reply({
    example: exampleCommand(routes, url, token),
    scopes: requiredScopes(routes.operations).join(' '),
    packages,
  })
  await checked
  return 'checked'
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
  const module = new URL(`./write-pages${extname(import.meta.filename)}`, import.meta.url)
  const writer = new Worker(module, { workerData: { ...options, serviceUrl } })
  await once(writer, 'exit').catch(({ message }: Error) =>
    console.error(`dev: the documentation is not written: ${message}`),
  )
}

async function generate(): Promise<Routes> {
  const { document, rules, errors, out, handlers, skipUnsupported } = options
  const compiled = await compileContract(document, {
    rules,
    errors: errors === undefined ? undefined : await loadErrorBody(errors),
    skipUnsupported,
  })
  for (const warning of compiled.warnings) console.warn(visible(`${document}: ${warning}`))
  const written = await updateGenerated(compiled, out, handlers)
  if (written.length > 0) console.log(`dev: wrote ${written.join(', ')}`)
  return compiled.contract.routes
}

/** Returns the function that bundles the service into a directory: that of --bundle, or one that calls esbuild. */
async function loadBundle(): Promise<BundleService> {
  if (options.bundle === undefined) return serviceBundler(options.entry, options.out)
  const { bundle } = await import(pathToFileURL(resolve(options.bundle)).href)
  return (directory) => bundle(directory).then(() => [])
}
