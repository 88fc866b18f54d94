/**
 * npm run dev
 *
 * Runs the service and follows every change: the document is generated from again, src is compiled, the service starts
 * anew. While the document or the code has an error the complaint is shown and the last good service goes on.
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

// One token for all starts: a new one each time would have to be copied each time.
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
    // Where the types are new the compiler has its say first.
    if (!written.some((path) => path.endsWith('.d.ts'))) restartSoon()
  } catch (error) {
    console.error((error as Error).message)
  }
}

/** The compiler watches the files that src/server.ts leads to, generated/api.d.ts among them. */
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

/** Editors write a file in several steps. */
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
