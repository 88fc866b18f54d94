import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { build } from 'esbuild'
import ts from 'typescript'
import { compileContract } from '../compile/compile.ts'
import { updateGenerated } from '../compile/emit/handler-stubs.ts'
import { loadErrorBody } from '../compile/rules/error-bodies.ts'
import { writeTryPage } from '../docs/docs-page.ts'
import { exampleCurl } from '../docs/example-calls.ts'
import type { Routes } from '../serve/contract.ts'
import { requiredScopes } from '../serve/security.ts'
import type { BuildReply, BuildRequest, DevOptions, Snapshotted } from './reloader.ts'

/*
 * The build process of the command dev. It is separate because a type check takes seconds and would block the
 * connections that the main process forwards. The first argument is the DevOptions as JSON.
 */

const options: DevOptions = JSON.parse(process.argv[2] as string)
const checkTypes = typeChecker(options.entry)
const bundle = await loadBundle()
let isGenerated = false

// A terminal sends SIGINT to every process of the group; the main process ends this one.
process.on('SIGINT', () => {})

process.on('message', async (request: BuildRequest) => {
  const reply: BuildReply = await takeSnapshot(request).catch(({ message }: Error) => ({ error: message }))
  // The main process may have ended during the build; without a callback, the failure to send would be thrown.
  process.send?.(reply, () => {})
})

/** Generates, type-checks and bundles the current state of the service into a directory. */
async function takeSnapshot({ directory, hasNewDocument, url, token }: BuildRequest): Promise<Snapshotted> {
  if (hasNewDocument) isGenerated = false
  if (!isGenerated) await generate(url)
  isGenerated = true
  checkTypes()
  await bundle(join(directory, 'dist'))
  await cp(options.out, join(directory, 'generated'), { recursive: true })
  await mkdir(options.docs, { recursive: true })
  await symlink(resolve(options.docs), join(directory, 'dist', 'docs'), 'junction')
  const documentText = await readFile(join(options.out, 'openapi.json'), 'utf8')
  const routes: Routes = JSON.parse(await readFile(join(options.out, 'routes.json'), 'utf8'))
  return {
    example: exampleCurl(url, token, { documentText, routes }),
    scopes: requiredScopes(routes.operations).join(' '),
  }
}

async function generate(serviceUrl: string): Promise<void> {
  const { document, rules, errors, out, handlers, docs, skipUnsupported } = options
  const compiled = await compileContract(document, {
    rules,
    errors: errors === undefined ? undefined : await loadErrorBody(errors),
    skipUnsupported,
  })
  for (const warning of compiled.warnings) console.warn(`${document}: ${warning}`)
  const written = await updateGenerated(compiled, out, handlers)
  if (written.length > 0) console.log(`dev: wrote ${written.join(', ')}`)
  // The page calls the port that stays open, not that of one snapshot.
  await writeTryPage(docs, { generated: out, serviceUrl })
}

/** Returns the function that bundles the service into a directory: that of --bundle, or one that calls esbuild. */
async function loadBundle(): Promise<(directory: string) => Promise<unknown>> {
  if (options.bundle !== undefined) return (await import(pathToFileURL(resolve(options.bundle)).href)).bundle
  return (directory) =>
    build({
      entryPoints: [options.entry],
      outfile: join(directory, basename(options.entry).replace(/ts$/, 'js')),
      bundle: true,
      packages: 'external',
      platform: 'node',
      target: 'node20',
      format: 'esm',
      logLevel: 'silent',
    })
}

/**
 * Returns a function that type-checks a module and every file that it imports, including generated types. Each call
 * reads the current files and rechecks only what has changed. It throws an error with the compiler's diagnostics.
 */
function typeChecker(module: string): () => void {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.')
  const host = ts.createIncrementalCompilerHost(options)
  const parse = host.getSourceFile
  const parsed = new Map<string, { changed: number | undefined; file: ts.SourceFile | undefined }>()
  host.getSourceFile = (path, ...rest) => {
    const changed = ts.sys.getModifiedTime?.(path)?.getTime()
    const known = parsed.get(path)
    if (known !== undefined && known.changed === changed) return known.file
    const file = parse(path, ...rest)
    parsed.set(path, { changed, file })
    return file
  }
  const format = { getCanonicalFileName: String, getCurrentDirectory: process.cwd, getNewLine: () => '\n' }
  let program: ts.SemanticDiagnosticsBuilderProgram | undefined
  return () => {
    program = ts.createSemanticDiagnosticsBuilderProgram([module], options, host, program)
    const findings = [
      ...program.getConfigFileParsingDiagnostics(),
      ...program.getSyntacticDiagnostics(),
      ...program.getGlobalDiagnostics(),
      ...program.getSemanticDiagnostics(),
    ]
    if (findings.length === 0) return
    const text = ts.formatDiagnosticsWithColorAndContext(findings, format).trimEnd()
    throw new Error(process.stderr.isTTY ? text : stripVTControlCharacters(text))
  }
}
