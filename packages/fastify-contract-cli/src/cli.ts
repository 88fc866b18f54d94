#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import * as module from 'node:module'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { reportError } from './cli/report-error.ts'
import { flagsFor } from './cli/run-once.ts'
import { cacheDirectory } from './digests/cache-directory.ts'

/** The sub-commands of fastify-contract; each module is loaded on demand. */
const commands: Record<string, () => Promise<{ run(args: string[]): Promise<void> }>> = {
  init: () => import('./cli/init.ts'),
  lint: () => import('./cli/lint.ts'),
  generate: () => import('./cli/generate.ts'),
  changes: () => import('./cli/changes.ts'),
  docs: () => import('./cli/docs.ts'),
  mock: () => import('./cli/mock.ts'),
  test: () => import('./cli/test.ts'),
  typecheck: () => import('./cli/typecheck.ts'),
  dev: () => import('./cli/dev.ts'),
}

const help = `fastify-contract COMMAND [--help]
fastify-contract --version

init      writes a service for an OpenAPI document, which runs at once
lint      advises on the style of the document
generate  writes types, route schemas and a client table from an OpenAPI document
changes   lists the changes of the document since its last release
docs      writes the documentation of the document
mock      runs a mock server that returns the examples in the document
test      sends requests that the document implies, and checks the responses
typecheck checks the types of a project, with short messages about its handlers
dev       runs the service and restarts it after each change

COMMAND --help prints the options of a command.
`

// The reader of a pipe, such as head, may end first.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1))

// Node.js 22 keeps what it has compiled: TypeScript has 9 MB. Its default is a directory that every user can write, whose
// code would run. Where this directory cannot be written, each command compiles.
const cache = import.meta.filename.endsWith('.js') ? cacheDirectory(import.meta.dirname) : undefined
if (cache !== undefined)
  (module as { enableCompileCache?(path: string): unknown }).enableCompileCache?.(join(cache, 'code'))

const [name = '', ...args] = process.argv.slice(2)
const load = Object.hasOwn(commands, name) ? commands[name] : undefined
if (['', '--help', '-h'].includes(name)) {
  process.stdout.write(help)
} else if (name === '--version') {
  const manifest = readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')
  process.stdout.write(`${JSON.parse(manifest).version}\n`)
} else if (load === undefined) {
  process.stderr.write(`fastify-contract: unknown command '${name}'; expected ${Object.keys(commands).join(', ')}\n`)
  process.exitCode = 2
} else {
  for (const flag of flagsFor(name, process.versions.node)) setFlagsFromString(flag)
  const { run } = await load()
  await run(args).catch(reportError)
}
