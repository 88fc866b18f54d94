import { mkdir, symlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { requiredScopes } from 'fastify-contract'
import { exampleCommand, type Routes } from 'fastify-contract/contract'
import { writeStaleDocs, writeTryPage } from '../docs/docs-page.ts'
import { compileContract } from '../emit/compile.ts'
import { updateGenerated } from '../emit/generated-files.ts'
import { loadErrorBody } from '../rules/error-bodies.ts'
import { visible } from '../text/source-text.ts'
import { checkTypes } from '../typescript/type-checker.ts'
import type { BuildReply, BuildRequest, DevOptions, Snapshotted } from './reloader.ts'

/*
 * The build process of the command dev. It is separate because a type check takes seconds and would block the
 * connections that the main process forwards. The first argument is the DevOptions as JSON.
 */

const options: DevOptions = JSON.parse(process.argv[2] as string)
const bundle = await loadBundle()
/** Resolves when the documentation is written. Only one process at a time writes it. */
let writing = Promise.resolve()
/** The routes of the document; undefined until it is generated. */
let routes: Routes | undefined

// A terminal sends SIGINT to every process of the group; the main process ends this one.
process.on('SIGINT', () => {})

process.on('message', async (request: BuildRequest) => {
  const reply: BuildReply = await takeSnapshot(request).catch(({ message }: Error) => ({ error: message }))
  // The main process may have ended during the build; without a callback, the failure to send would be thrown.
  process.send?.(reply, () => {})
  // The pages take seconds, so no build waits for them.
  if (request.hasNewDocument && !('error' in reply)) writing = writing.then(writePages)
})

/** Generates, type-checks and bundles the current state of the service into a directory. */
async function takeSnapshot({ directory, hasNewDocument, url, token }: BuildRequest): Promise<Snapshotted> {
  if (hasNewDocument) routes = undefined
  routes ??= await generate(url)
  await checkTypes(options.entry, join(dirname(directory), 'types'))
  await bundle(join(directory, 'dist'))
  await mkdir(options.docs, { recursive: true })
  await symlink(resolve(options.docs), join(directory, 'dist', 'docs'), 'junction')
  return {
    example: exampleCommand(routes, url, token),
    scopes: requiredScopes(routes.operations).join(' '),
  }
}

/** Writes the documentation unless it is up to date. */
async function writePages(): Promise<void> {
  const { docs, out: generated, client } = options
  await writeStaleDocs(docs, { generated, client }).catch(({ message }: Error) =>
    console.error(`dev: the documentation is not written: ${message}`),
  )
}

async function generate(serviceUrl: string): Promise<Routes> {
  const { document, rules, errors, out, handlers, docs, skipUnsupported } = options
  const compiled = await compileContract(document, {
    rules,
    errors: errors === undefined ? undefined : await loadErrorBody(errors),
    skipUnsupported,
  })
  for (const warning of compiled.warnings) console.warn(visible(`${document}: ${warning}`))
  const written = await updateGenerated(compiled, out, handlers)
  if (written.length > 0) console.log(`dev: wrote ${written.join(', ')}`)
  // The page calls the port that stays open, not that of one snapshot.
  await writeTryPage(docs, { generated: out, serviceUrl })
  return compiled.contract.routes
}

/** Returns the function that bundles the service into a directory: that of --bundle, or one that calls esbuild. */
async function loadBundle(): Promise<(directory: string) => Promise<unknown>> {
  if (options.bundle !== undefined) return (await import(pathToFileURL(resolve(options.bundle)).href)).bundle
  return bundleWithEsbuild
}

// A declaration, unlike a constant, exists when the module calls loadBundle.
function bundleWithEsbuild(directory: string): Promise<unknown> {
  return build({
    entryPoints: [options.entry],
    outfile: join(directory, basename(options.entry).replace(/ts$/, 'js')),
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // Stack traces name the sources.
    sourcemap: true,
    logLevel: 'silent',
  })
}
