import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect, createServer, isIPv6 } from 'node:net'
import { basename, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { ListenAddress } from 'fastify-contract/service'

/** A running service, started from a snapshot of its code. */
export type Service = {
  directory: string
  url: string
  adminUrl: string
  /** The lines that it wrote to stderr before it was ready. */
  written: string[]
  /** Resolves with the exit code or signal when the process has ended. */
  ended: Promise<string>
  /** Stops the service gracefully, and kills it after 10 s; resolves when the process has ended. */
  stop(): Promise<void>
}

/** Where the servers of a service listen. */
export type Places = { place: ListenAddress; adminPlace: ListenAddress }

export type Start = Places & {
  /** The CORS origins. */
  origins: string
  environment?: Record<string, string>
  /** Receives the lines of stderr once the service is ready. */
  onStderr?: (line: string) => void
  /** Ends the process. */
  signal?: AbortSignal
}

/** A process that waits for the snapshot of a service, with its packages already loaded. */
export type WaitingProcess = {
  child: ChildProcess
  /** The directory of the snapshot. */
  directory: string
  /** What it has loaded. */
  packages: string
  /** Resolves with the exit code or signal when the process has ended. */
  ended: Promise<string>
}

/**
 * Starts a process that loads packages and waits for `startService`: the module of the snapshot need not exist yet.
 *
 * @param entry The source of the module to start, which the snapshot holds as dist/NAME.js.
 * @param isLogged Whether its stdout is shown.
 */
export function prepareProcess(
  directory: string,
  entry: string,
  packages: string[],
  isLogged: boolean,
): WaitingProcess {
  const file = join(directory, 'dist', basename(entry).replace(/ts$/, 'js'))
  const child = spawn(process.execPath, ['--enable-source-maps', `--import=${awaitStart}`, file], {
    env: { ...process.env, DEV_PACKAGES: pathToFileURL(packagesModule(dirname(directory), packages)).href },
    stdio: ['ignore', isLogged ? 'inherit' : 'ignore', 'pipe', 'ipc'],
  })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', kill)
    return signal === null ? `exit code ${code}` : `signal ${signal}`
  })
  return { child, directory, packages: packagesNow(packages), ended }
}

const awaitStart = new URL('../dev/await-start.js', import.meta.url).href

/** Writes a module that imports packages, in a directory of the project, and returns its path. */
function packagesModule(directory: string, packages: string[]): string {
  const path = resolve(directory, 'packages.mjs')
  const imports = packages.map((name) => `import(${JSON.stringify(name)})`)
  mkdirSync(directory, { recursive: true })
  // The service itself reports a package that cannot be imported.
  writeFileSync(path, `await Promise.allSettled([${imports.join(', ')}])\n`)
  return path
}

/** The files that package managers write into node_modules after each installation. */
const installationFiles = ['.', '.package-lock.json', '.modules.yaml', '.yarn-integrity', '.yarn-state.yml']

/** Returns a text about packages that changes when some are installed. */
function packagesNow(names: string[]): string {
  const places = createRequire(resolve('package.json')).resolve.paths('package') as string[]
  const times = places
    .flatMap((place) => installationFiles.map((file) => join(place, file)))
    .map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs)
  return JSON.stringify([names, times])
}

/** Returns whether a process can start the snapshot in a directory, with some packages as they are installed now. */
export const isUsable = (known: WaitingProcess, directory: string, packages: string[]): boolean =>
  known.child.connected && known.directory === directory && known.packages === packagesNow(packages)

/** The time limits in milliseconds for a service to listen, to become ready afterwards, and to end. */
const startTimeout = 30_000
const readyTimeout = 3_000
const stopTimeout = 10_000

/**
 * Starts a service on free ports in a process that waits; resolves when it is ready. Rejects with its output on stderr
 * if it ends before that, is not ready, or does not respond in time.
 */
export async function startService({ child, directory, ended }: WaitingProcess, start: Start): Promise<Service> {
  const { place, adminPlace, origins, environment = {}, onStderr, signal } = start
  const [port, adminPort] = await Promise.all([freePort(place.host), freePort(adminPlace.host)])
  const url = urlOf(place.host, port)
  const adminUrl = urlOf(adminPlace.host, adminPort)
  const kill = () => void child.kill('SIGKILL')
  signal?.addEventListener('abort', kill)
  if (signal?.aborted) kill()
  const written: string[] = []
  let isReady = false
  const lines = createInterface(child.stderr as NodeJS.ReadableStream).on('line', (line) => {
    if (isReady) onStderr?.(line)
    else written.push(line)
  })
  const hasEnded = once(lines, 'close').then(() => (written.length > 0 ? '' : 'the service ended without a message'))
  // The end of an old service must not last: SIGINT skips the wait, and idle connections stay a quarter of the rest.
  const own = { DRAIN_TIME: '2900', DRAIN_DEADLINE: '3000', CORS_ORIGINS: origins, ...environment }
  const { ACCESS_TOKENS_SCOPE } = process.env
  child.send(
    {
      ...(ACCESS_TOKENS_SCOPE !== undefined && { ACCESS_TOKENS_SCOPE }),
      ...own,
      PORT: String(port),
      MANAGEMENT_PORT: String(adminPort),
    },
    // A process that has ended is reported below.
    () => {},
  )
  const problem = await Promise.race([hasEnded, readinessProblem(url, adminUrl)])
  if (problem !== undefined) {
    kill()
    throw new Error([...written, problem].join('\n').trim())
  }
  isReady = true
  const stop = async () => {
    child.kill('SIGINT')
    const timer = setTimeout(kill, stopTimeout)
    await ended
    clearTimeout(timer)
  }
  return { directory, url, adminUrl, written, ended, stop }
}

/**
 * Resolves with undefined once a service accepts connections and, if it has an admin server, is ready. Resolves with
 * the problem after a time limit.
 */
async function readinessProblem(url: string, adminUrl: string): Promise<string | undefined> {
  if (!(await holdsWithin(startTimeout, () => accepts(url))))
    return `nothing listens on ${url}; the service must listen on HOST and PORT`
  let problem: string | undefined
  await holdsWithin(readyTimeout, async () => {
    const response = await fetch(`${adminUrl}/readyz`).catch(() => undefined)
    problem = response === undefined || response.ok ? undefined : `the service is not ready: ${await response.text()}`
    return problem === undefined
  })
  return problem
}

/** Returns whether a condition holds within some milliseconds. */
async function holdsWithin(timeout: number, condition: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + timeout
  while (performance.now() < end) {
    if (await condition()) return true
    await sleep(10)
  }
  return false
}

function accepts(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/[[\]]/g, ''), port: Number(port) })
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy())
    socket.on('close', (hasFailed) => resolve(!hasFailed))
  })
}

/** Returns the URL at which this machine reaches a server on a host, which may be a wildcard address. */
function urlOf(host: string, port: number): string {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`
}

/** Returns a free port. It is below the ephemeral ports, so that no outgoing connection can occupy it. */
async function freePort(host: string): Promise<number> {
  const port = 10_000 + Math.floor(Math.random() * 20_000)
  const server = createServer()
  const isFree = await once(server.listen(port, host), 'listening').then(
    () => true,
    () => false,
  )
  if (!isFree) return await freePort(host)
  await once(server.close(), 'close')
  return port
}
