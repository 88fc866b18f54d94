import { type ChildProcess, fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, type FSWatcher, readdirSync, rmSync, statSync, watch } from 'node:fs'
import { connect, createServer, isIPv6 } from 'node:net'
import { basename, dirname, extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { browserUrl, type ListenAddress, pageOrigins } from 'fastify-contract/service'
import { openPortForwarder } from './port-forwarder.ts'

/** What the command dev builds and runs. */
export type DevOptions = {
  document: string
  /** The configuration of the linter; default: redocly.yaml if there is one. */
  rules: string | undefined
  /** The module with errorBody, if any. */
  errors: string | undefined
  /** The module of the handlers, for messages. */
  handlers: string
  /** Whether to serve the other operations if some cannot be served. */
  skipUnsupported: boolean
  /** The directory of the generated files. */
  out: string
  /** The directory of the documentation page. */
  docs: string
  /** The module from which the samples of that page import createClient. */
  client: string
  /** The module that starts the service; its directory is watched. */
  entry: string
  /** Other directories to watch, separated by commas; default: none. */
  watch: string | undefined
  /** A module whose function bundle(directory) bundles the service; default: esbuild, with packages left external. */
  bundle: string | undefined
  /** Environment variables, as NAME=VALUE, for the start on trial; default: none. */
  trial: string | undefined
}

/** A message to the build process: where to put a snapshot, and what the example request in the reply calls. */
export type BuildRequest = { directory: string; hasNewDocument: boolean; url: string; token: string }

/**
 * The reply of the build process about a snapshot: a command that calls it, and the scopes that its operations require.
 */
export type Snapshotted = { example?: string | undefined; scopes: string }

export type BuildReply = Snapshotted | { error: string }

/**
 * Runs a service and replaces it after each change: opens the ports, builds and starts the service, then watches for
 * changes. Resolves once the first build has begun. Rejects with one line if a port cannot be opened.
 */
export async function runDev(options: DevOptions): Promise<void> {
  const hasOwnToken = !process.env.ACCESS_TOKENS
  // The same token for all restarts, so that users need not copy a new one after each change.
  process.env.ACCESS_TOKENS ||= randomBytes(32).toString('base64url')
  const token = process.env.ACCESS_TOKENS.split(',', 1)[0]?.trim() as string
  const trial = Object.fromEntries((options.trial?.split(',') ?? []).map((pair) => pair.split(/=(.*)/s, 2)))
  for (const [name, value] of Object.entries(trial))
    if (process.env[name] === value) console.log(`dev: ${name}=${value} loses its data at each restart`)
  const snapshots = join('dist', 'dev', String(process.pid))
  process.on('exit', () => rmSync(snapshots, { recursive: true, force: true }))

  let running: Snapshot | undefined
  let hasServed = false
  let isEnding = false
  let count = 0
  /** Whether code or document have changed since the last snapshot. */
  const changed = { code: true, document: true }
  const hasChanged = () => (changed.code || changed.document) && !isEnding

  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
  const place = listenAddress('', 3000)
  const adminPlace = listenAddress('MANAGEMENT_', 3001)
  const front = await openPortForwarder(place)
  const admin = await openPortForwarder(adminPlace, 'MANAGEMENT_')
  const origins = [process.env.CORS_ORIGINS, ...pageOrigins(admin.url)].filter(Boolean).join()
  const start = (directory: string, more: Partial<Start> = {}) =>
    startSnapshot({ directory, entry: options.entry, place, adminPlace, origins, ...more })

  console.log(`dev: building the service for ${front.url}`)
  const builder = forkBuildProcess(options)
  builder.on('exit', () => {
    if (isEnding) return
    console.error('dev: the build process has ended; start dev again')
    process.exit(1)
  })
  let updating = update()
  const directories = [dirname(options.entry), ...(options.watch?.split(',') ?? [])]
  // npm writes these once it has installed a package, such as one that an import misses.
  const installed = ['package.json', join('node_modules', '.package-lock.json')].filter((file) => existsSync(file))
  for (const each of [...directories, ...installed]) watchPath(each, () => change('code'))
  // The directory of a document in the directory of the project holds everything else, too.
  const directory = dirname(options.document)
  watchPath(directory === '.' ? options.document : directory, () => change('document'))

  function change(what: 'code' | 'document'): void {
    changed[what] = true
    updating = updating.then(update)
  }

  /** Repeats snapshots until there are no more changes, so that the last state is the one that runs. */
  async function update(): Promise<void> {
    while (hasChanged()) {
      const hasNewDocument = changed.document
      changed.code = changed.document = false
      const directory = join(snapshots, String(++count))
      try {
        const { example, scopes } = await takeSnapshot({ directory, hasNewDocument, url: browserUrl(front.url), token })
        if (hasOwnToken) process.env.ACCESS_TOKENS_SCOPE = scopes
        if (!hasChanged()) await replace(directory)
        if (!hasServed && running !== undefined && example !== undefined) console.log(example)
        hasServed ||= running !== undefined
      } catch (error) {
        // A change in the meantime may have fixed the error.
        if (!hasChanged()) report(error as Error)
      }
    }
  }

  async function takeSnapshot(request: BuildRequest): Promise<Snapshotted> {
    builder.send(request)
    const [reply] = (await once(builder, 'message')) as [BuildReply]
    if ('error' in reply) throw new Error(reply.error)
    return reply
  }

  function report({ message }: Error): void {
    console.error(message)
    if (running !== undefined) console.error('dev: the last working service keeps running')
    else {
      forward(undefined)
      console.error('dev: no service is running; correct the error above')
    }
  }

  /**
   * Replaces the running service after a trial start. If the new one fails on the real store, starts the old one again.
   */
  async function replace(directory: string): Promise<void> {
    const old = running
    if (old === undefined) return await serve(directory)
    // Some stores allow one process only, so the trial may use another store.
    await (await start(directory, { environment: trial })).stop()
    front.hold()
    admin.hold()
    running = undefined
    await old.stop()
    try {
      await serve(directory)
    } catch (error) {
      await serve(old.directory)
      throw error
    }
    rmSync(old.directory, { recursive: true })
  }

  async function serve(directory: string): Promise<void> {
    const toFront = (line: string) =>
      console.error(line.replace(service.url, front.url).replace(service.adminUrl, admin.url))
    const service = await start(directory, { onStderr: console.error })
    running = service
    forward(service)
    service.written.forEach(toFront)
    void service.ended.then((how) => {
      if (running !== service || isEnding) return
      running = undefined
      report(new Error(`dev: the service has ended with ${how}`))
    })
  }

  function forward(service: Snapshot | undefined): void {
    front.forward(service?.url)
    admin.forward(service?.adminUrl)
  }

  /** Stops the service gracefully at the first signal, so that it releases its store; a second signal exits at once. */
  async function end(): Promise<void> {
    if (isEnding) process.exit(1)
    isEnding = true
    await running?.stop()
    process.exit()
  }
}

/**
 * Starts the build process. It imports modules of the project, which are TypeScript: the sources of this module run
 * with a loader for that, and the built package needs tsx.
 */
function forkBuildProcess(options: DevOptions): ChildProcess {
  const extension = extname(import.meta.filename)
  const loader = extension === '.js' ? [`--import=${import.meta.resolve('tsx')}`] : []
  return fork(new URL(`./build-process${extension}`, import.meta.url), [JSON.stringify(options)], {
    execArgv: [...process.execArgv, ...loader],
  })
}

/** Returns where a server of the service listens, by its environment variables. */
function listenAddress(prefix: string, port: number): ListenAddress {
  const host = process.env[`${prefix}HOST`] || '127.0.0.1'
  return {
    host: host === 'localhost' ? '127.0.0.1' : host,
    port: Number(process.env[`${prefix}PORT`] || port),
  }
}

/** The debounce delay in milliseconds: editors write a file in several steps. */
const debounceDelay = 50

/**
 * Calls `changed` after changes of a file, or below a directory. Watches each directory separately: Node's recursive
 * watcher on Linux watches files and loses a file that an editor replaces by a rename.
 */
function watchPath(path: string, changed: () => void): void {
  const isDirectory = statSync(path).isDirectory()
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  const schedule = (_event: string, name: string | null) => {
    if (!isDirectory && name !== basename(path)) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      watchAll()
      changed()
    }, debounceDelay)
  }
  const watchAll = () => {
    for (const directory of isDirectory ? [path, ...directoriesBelow(path)] : [dirname(path)]) {
      if (watchers.has(directory)) continue
      const forget = () => {
        watchers.get(directory)?.close()
        watchers.delete(directory)
      }
      watchers.set(directory, watch(directory, schedule).on('error', forget))
    }
  }
  watchAll()
}

const directoriesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))

/** The time limits in milliseconds for a service to listen, and to become ready afterwards. */
const startTimeout = 30_000
const readyTimeout = 3_000

/** A running service, started from a snapshot of its code. */
type Snapshot = {
  directory: string
  url: string
  adminUrl: string
  /** The lines that it wrote to stderr before it was ready. */
  written: string[]
  /** Resolves with the exit code or signal when the process has ended. */
  ended: Promise<string>
  /** Stops the service gracefully; resolves when the process has ended. */
  stop(): Promise<void>
}

type Start = {
  directory: string
  /** The source of the module to start, which the snapshot holds as dist/NAME.js. */
  entry: string
  place: ListenAddress
  adminPlace: ListenAddress
  /** The CORS origins. */
  origins: string
  environment?: Record<string, string>
  /** Receives the lines of stderr once the service is ready. Without it they and the log on stdout are dropped. */
  onStderr?: (line: string) => void
}

/**
 * Starts a service on free ports; resolves when it is ready. Rejects with its output on stderr if it ends before that,
 * is not ready, or does not respond in time.
 */
async function startSnapshot(start: Start): Promise<Snapshot> {
  const { directory, entry, place, adminPlace, origins, environment = {}, onStderr } = start
  const [port, adminPort] = [await freePort(place.host), await freePort(adminPlace.host)]
  const url = urlOf(place.host, port)
  const adminUrl = urlOf(adminPlace.host, adminPort)
  const file = basename(entry).replace(/ts$/, 'js')
  const child = spawn(process.execPath, ['--enable-source-maps', join(directory, 'dist', file)], {
    // Requests wait for the next service while this one drains, so it must drain fast.
    env: {
      ...process.env,
      DRAIN_TIME: '0',
      DRAIN_DEADLINE: '3000',
      CORS_ORIGINS: origins,
      ...environment,
      PORT: String(port),
      MANAGEMENT_PORT: String(adminPort),
    },
    stdio: ['ignore', onStderr === undefined ? 'ignore' : 'inherit', 'pipe'],
  })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', kill)
    return signal === null ? `exit code ${code}` : `signal ${signal}`
  })
  const written: string[] = []
  let isReady = false
  const lines = createInterface(child.stderr).on('line', (line) => {
    if (isReady) onStderr?.(line)
    else written.push(line)
  })
  const hasEnded = once(lines, 'close').then(() => (written.length > 0 ? '' : 'the service ended without a message'))
  const problem = await Promise.race([hasEnded, readinessProblem(url, adminUrl)])
  if (problem !== undefined) {
    kill()
    throw new Error([...written, problem].join('\n').trim())
  }
  isReady = true
  const stop = async () => {
    child.kill('SIGINT')
    await ended
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
    await sleep(20)
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
