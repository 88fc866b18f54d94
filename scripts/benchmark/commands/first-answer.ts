import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { get } from 'node:http'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from 'fastify-contract-test-support/free-port'
import { childSeconds } from '../../system/process-usage.ts'
import type { Commands } from './installation.ts'
import { measureCommand, onBothCores, type Usage } from './measure-command.ts'

/** How long a service may take to start, in milliseconds. */
const startTimeout = 60_000

/**
 * Measures `init` of a document in a new directory, and the start of its service until /readyz responds with 200. A link
 * to the installed packages stands for `npm install`. The memory is that of `init`.
 */
export async function measureInit(
  document: string,
  { directory, own }: Commands,
  env: NodeJS.ProcessEnv,
): Promise<Usage> {
  const { project, init } = initialize([document], { directory, own }, env)
  const start = await measureStart(project, env)
  return { wall: init.wall + start.wall, cpu: init.cpu + start.cpu, memory: init.memory }
}

/** Returns the directory of the project that `initialize` makes. */
export const projectOfInit = ({ directory }: Pick<Commands, 'directory'>): string =>
  join(directory, 'projects', 'init', 'service')

/** Runs `init` in a new directory, and returns it with what `init` used. */
export function initialize(
  args: string[],
  { directory, own }: Pick<Commands, 'directory' | 'own'>,
  env: NodeJS.ProcessEnv,
): { project: string; init: Usage } {
  const project = projectOfInit({ directory })
  const parent = dirname(project)
  rmSync(parent, { recursive: true, force: true })
  mkdirSync(parent, { recursive: true })
  const init = measureCommand([own, 'init', ...args, 'service'], parent, env)
  symlinkSync(join(directory, 'node_modules'), join(project, 'node_modules'), 'junction')
  return { project, init }
}

async function measureStart(cwd: string, given: NodeJS.ProcessEnv): Promise<Omit<Usage, 'memory'>> {
  const [port, managementPort] = [await freePort(), await freePort()]
  const env = { ...given, PORT: String(port), MANAGEMENT_PORT: String(managementPort) }
  const [program = '', ...before] = onBothCores
  const [begin, cpu] = [performance.now(), childSeconds()]
  const child = spawn(program, [...before, 'npm', 'start'], { cwd, env, stdio: 'ignore', detached: true })
  const ended = once(child, 'exit')
  const kill = () => process.kill(-(child.pid as number), 'SIGTERM')
  process.once('exit', kill)
  while (!(await isReady(managementPort))) {
    if (child.exitCode !== null) throw new Error(`npm start in ${cwd}: exit code ${child.exitCode} before it responded`)
    if (performance.now() - begin > startTimeout) throw new Error(`npm start in ${cwd}: not ready within 60 s`)
    await sleep(5)
  }
  const wall = (performance.now() - begin) / 1_000
  process.off('exit', kill)
  kill()
  await ended
  return { wall, cpu: childSeconds() - cpu }
}

const isReady = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const outgoing = get({ host: '127.0.0.1', port, path: '/readyz', agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    outgoing.once('error', () => resolve(false))
  })
