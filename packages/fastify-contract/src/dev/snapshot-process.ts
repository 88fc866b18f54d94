import { cp, mkdir, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { bundle } from '../../../../scripts/build/bundle.ts'
import { compileContract } from '../compile/compile.ts'
import { updateGenerated } from '../compile/emit/handler-stubs.ts'
import { loadErrorBody } from '../compile/rules/error-bodies.ts'
import { writeTryPage } from '../docs/docs-page.ts'

const format = { getCanonicalFileName: String, getCurrentDirectory: process.cwd, getNewLine: () => '\n' }

/**
 * Returns a function that type-checks a module and every file that it imports, including generated types. Each call
 * reads the current files and rechecks only what has changed. It throws an error with the compiler's diagnostics.
 */
export function typeChecker(module: string): () => void {
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
    throw new Error(ts.formatDiagnosticsWithColorAndContext(findings, format).trimEnd())
  }
}

/*
 * The build process of npm run dev. It is separate because a type check takes seconds and would block the connections
 * that the main process forwards. Each message has the directory for a snapshot and whether the document has changed;
 * the reply has the error, if any.
 */

// A terminal sends SIGINT to every process of the group; the main process ends this one.
process.on('SIGINT', () => {})

const checkTypes = typeChecker('src/server.ts')
let isGenerated = false

process.on('message', async ({ directory, hasNewDocument }: { directory: string; hasNewDocument: boolean }) => {
  const error = await takeSnapshot(directory, hasNewDocument).then(
    () => undefined,
    ({ message }: Error) => message,
  )
  // The main process may have ended during the build; without a callback, the failure to send would be thrown.
  process.send?.({ error }, () => {})
})

/** Generates, type-checks and bundles the current state of the service into a directory. */
async function takeSnapshot(directory: string, hasNewDocument: boolean): Promise<void> {
  if (hasNewDocument) isGenerated = false
  if (!isGenerated) await generate()
  isGenerated = true
  checkTypes()
  await bundle(join(directory, 'dist'))
  await mkdir(join(directory, 'generated'), { recursive: true })
  for (const name of ['openapi.json', 'routes.json']) {
    await cp(join('generated', name), join(directory, 'generated', name))
  }
  await mkdir(join('dist', 'docs'), { recursive: true })
  await symlink(resolve('dist', 'docs'), join(directory, 'dist', 'docs'), 'junction')
}

async function generate(): Promise<void> {
  const path = 'openapi/plant-store.yaml'
  const compiled = await compileContract(path, 'redocly.yaml', await loadErrorBody('src/error-body.ts'))
  for (const warning of compiled.warnings) console.warn(`${path}: ${warning}`)
  const written = await updateGenerated(compiled, 'generated', 'src/handlers.ts')
  if (written.length > 0) console.log(`dev: wrote ${written.join(', ')}`)
  await writeTryPage(join('dist', 'docs'))
}
