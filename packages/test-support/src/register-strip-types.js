import module, { syncBuiltinESMExports } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import workers from 'node:worker_threads'
import processOnSpawn from 'process-on-spawn'

await registerHooks(new URL('strip-types.js', import.meta.url))
// More hooks of the tests that run: a path relative to the directory where they were started.
if (process.env.TEST_HOOKS !== undefined) {
  process.env.TEST_HOOKS = resolve(process.env.TEST_HOOKS)
  await registerHooks(pathToFileURL(process.env.TEST_HOOKS))
}

/** Registers the hooks that a module exports: in this thread where Node can, since later versions deprecate `register`. */
async function registerHooks(url) {
  if (module.registerHooks === undefined) module.register(url)
  else module.registerHooks(await import(url))
}

// Fastify removes in its next major version what has such a code. --throw-deprecation concerns only warnings of Node.
process.on('warning', (warning) => {
  if (String(warning.code).startsWith('FSTDEP')) throw warning
})

// Most of a test runs once, but Node 20 spends a tenth of the CPU on optimizing it; later versions optimize later.
if (process.version.startsWith('v20.')) setFlagsFromString('--interrupt-budget=1000000')

const withoutHooks = (options = '') => options.replace(/"?--import=\S+processinfo\S+/, '').trim()

// tap's hooks cost 0.3 s of CPU in each child process and thread, where they only measure coverage. Only a process with
// this loader can cover src, so every other one starts without them.
processOnSpawn.addListener((child) => {
  if (child.args.some((argument) => argument.includes('register-strip-types.js'))) return
  const { NODE_OPTIONS, ...environment } = child.env
  const options = withoutHooks(NODE_OPTIONS)
  child.env = { ...environment, ...(options !== '' && { NODE_OPTIONS: options }) }
})

if (process.env.TAP_DISABLE_COVERAGE === '1') {
  // Blanks keep the places of the code, but Node would read the source maps of all packages.
  process.setSourceMapsEnabled(false)
  process.env.NODE_OPTIONS = withoutHooks(process.env.NODE_OPTIONS)
  const execArgv = [`--import=${import.meta.url}`]
  workers.Worker = class extends workers.Worker {
    constructor(file, options) {
      super(file, { execArgv, ...options })
    }
  }
  syncBuiltinESMExports()
}
