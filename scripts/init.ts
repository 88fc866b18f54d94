import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { writePackages } from './build/packages.ts'

// Runs `fastify-contract init --install`, as built, where npm was called. It checks its arguments and prints its help.
const target = resolve('dist')
process.stderr.write('init: building fastify-contract and fastify-contract-cli\n')
await writePackages(target)
const command = join(target, 'fastify-contract-cli', 'dist', 'cli.js')
const child = spawn(process.execPath, [command, 'init', '--install', ...process.argv.slice(2)], {
  cwd: process.env.INIT_CWD,
  stdio: 'inherit',
})
const [code] = await once(child, 'exit')
process.exitCode = code ?? 1
