/**
 * npm run dev
 *
 * Runs the service and watches the document and src. After a change it generates, compiles and restarts the service.
 * After an error it prints the error and keeps the last good service running.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import ts from 'typescript'
import { newToken } from '../src/auth/tokens.ts'
import { bundle } from './build/bundle.ts'
import { contractFiles, writeStale } from './generate/contract-files.ts'
import { printHandlerStubs } from './generate/handler-stubs.ts'

const documentPath = 'openapi/plant-store.yaml'

// One token for all starts, so that it need not be copied after each restart.
process.env.ACCESS_TOKENS ??= newToken()
console.log(`dev: the token is ${process.env.ACCESS_TOKENS}`)

let service: ChildProcess | undefined
let errors = 0
let pending: NodeJS.Timeout | undefined
let restarting = Promise.resolve()

process.on('exit', () => service?.kill())
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit())

await generate()
watch('openapi', { recursive: true }, debounce(generate))
compile()

async function generate(): Promise<void> {
  try {
    const files = await contractFiles(documentPath)
    await printHandlerStubs(files, 'generated')
    const written = await writeStale(files, 'generated')
    if (written.length === 0) return
    console.log(`dev: wrote ${written.join(', ')}`)
    // New types reach the compiler first, which restarts the service after a successful compilation.
    if (!written.some((path) => path.endsWith('.d.ts'))) restartSoon()
  } catch (error) {
    console.error((error as Error).message)
  }
}

/** Compiles src/server.ts and every file that it imports, generated/api.d.ts included, after each change. */
function compile(): void {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.')
  const format = { getCanonicalFileName: String, getCurrentDirectory: process.cwd, getNewLine: () => '\n' }
  const host = ts.createWatchCompilerHost(
    ['src/server.ts'],
    options,
    ts.sys,
    ts.createSemanticDiagnosticsBuilderProgram,
    (diagnostic) => console.error(ts.formatDiagnosticsWithColorAndContext([diagnostic], format).trimEnd()),
    (_status, _newLine, _options, errorCount) => {
      if (errorCount === undefined) return
      errors = errorCount
      if (errors > 0) console.error(`dev: ${errors} errors; the last good service goes on`)
      else restartSoon()
    },
  )
  ts.createWatchProgram(host)
}

function restartSoon(): void {
  clearTimeout(pending)
  pending = setTimeout(() => {
    if (errors === 0) restarting = restarting.then(restart).catch((error: Error) => console.error(error.message))
  }, 100)
}

async function restart(): Promise<void> {
  await bundle()
  if (service?.exitCode === null && service.signalCode === null) {
    service.kill()
    await once(service, 'exit')
  }
  service = spawn(process.execPath, ['dist/server.js'], { stdio: 'inherit' })
}

/** Delays a run until the changes stop, because editors write a file in several steps. */
function debounce(run: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  return () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      running = running.then(run)
    }, 50)
  }
}
