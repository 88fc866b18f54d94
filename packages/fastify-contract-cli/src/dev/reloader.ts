import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { browserUrl, type ListenAddress, pageOrigins } from 'fastify-contract/service'
import { openPortForwarder } from './port-forwarder.ts'
import {
  isUsable,
  prepareProcess,
  type Service,
  type Start,
  startService,
  type WaitingProcess,
} from './service-process.ts'
import { watchPath } from './watch-path.ts'

/** A document of the service that dev runs, and where its files are. */
export type DevDocument = {
  /** Its name, if the service has several documents. */
  name?: string | undefined
  /** What precedes its paths in the service. */
  prefix: string
  document: string
  /** The overlays of the document, which are watched like it. */
  overlays: string[]
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
  /** The directory of the released documents, which that page compares. */
  released: string
  /** The module from which the samples of that page import createClient. */
  client: string
}

/** What the command dev builds and runs. */
export type DevOptions = {
  documents: DevDocument[]
  /** The configuration of the linter; default: redocly.yaml if there is one. */
  rules: string | undefined
  /** The directory of the documentation, which has those of the documents. */
  docs: string
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
export type BuildRequest = {
  /** The number of the snapshot. */
  snapshot: number
  directory: string
  hasNewDocument: boolean
  /** Whether the last snapshot serves, and no code has changed since. */
  isServed: boolean
  url: string
  token: string
}

/** What the build process does: a snapshot, or the documentation of the last one. */
export type BuildMessage = BuildRequest | 'write docs'

/** A snapshot that can start, while its types are still checked. */
export type Bundled = {
  /** A command that calls the service. */
  example?: string | undefined
  /** The scopes that its operations require. */
  scopes: string
  /** The installed packages that it imports. */
  packages: string[]
}

/** What the build process has of a snapshot: a bundle, nothing if it equals the one that serves, or an error. */
export type BundleReply = Bundled | 'unchanged' | { error: string }

/** The two replies about each snapshot, in this order. The messages of the compiler are empty if the types are right. */
export type BuildReply = { snapshot: number } & ({ bundle: BundleReply } | { messages: string })

/** Which process of a snapshot: the first one only tries it out, if it needs an environment of its own. */
type Role = 'trial' | 'service'

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

  let running: Service | undefined
  /** Services that finish their last requests, and are then gone. */
  const retiring = new Set<Promise<void>>()
  let hasServed = false
  let isEnding = false
  /** The number of snapshots that have served. */
  let count = 0
  /** The number of the last snapshot. */
  let snapshot = 0
  /** Whether the last snapshot serves, or has served until it ended. */
  let isServed = false
  /** The packages of the last snapshot, which the waiting processes have loaded. */
  let packages: string[] = []
  const waiting: Partial<Record<Role, WaitingProcess>> = {}
  let hasNewDocs = false
  /** Whether code or document have changed since the last snapshot. */
  const changed = { code: true, document: true }
  const hasChanged = () => (changed.code || changed.document) && !isEnding

  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
  const place = listenAddress('', 3000)
  const adminPlace = listenAddress('MANAGEMENT_', 3001)
  const front = await openPortForwarder(place)
  const admin = await openPortForwarder(adminPlace, 'MANAGEMENT_')
  const origins = [process.env.CORS_ORIGINS, ...pageOrigins(admin.url)].filter(Boolean).join()
  const start = (role: Role, directory: string, more: Partial<Start>) =>
    startService(takeProcess(role, directory), { place, adminPlace, origins, ...more })

  console.log(`dev: building the service for ${front.url}`)
  const builder = forkBuildProcess(options)
  const replies = new EventEmitter()
  builder.on('message', (reply: BuildReply) => {
    if ('bundle' in reply) replies.emit(`bundle ${reply.snapshot}`, reply.bundle)
    else replies.emit(`messages ${reply.snapshot}`, reply.messages)
  })
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
  for (const each of new Set(options.documents.flatMap(watchedPaths))) watchPath(each, () => change('document'))

  function change(what: 'code' | 'document'): void {
    changed[what] = true
    updating = updating.then(update)
  }

  /** Repeats snapshots until there are no more changes, so that the last state is the one that runs. */
  async function update(): Promise<void> {
    while (hasChanged()) {
      const hasNewDocument = changed.document
      hasNewDocs ||= hasNewDocument
      isServed &&= !changed.code && running !== undefined
      changed.code = changed.document = false
      // A process already waits for a snapshot in this directory. If the build fails, the next one uses it again.
      const directory = nextDirectory()
      rmSync(directory, { recursive: true, force: true })
      try {
        snapshot += 1
        const checked = messagesAbout(snapshot)
        const bundled = await takeSnapshot({
          snapshot,
          directory,
          hasNewDocument,
          isServed,
          url: browserUrl(front.url),
          token,
        })
        if (bundled === undefined) {
          console.log('dev: the document changes nothing; the service keeps running')
          void reportTypes(snapshot, checked)
          continue
        }
        const { example, scopes } = bundled
        packages = bundled.packages
        if (hasOwnToken) process.env.ACCESS_TOKENS_SCOPE = scopes
        await replace(directory, checked)
        isServed = true
        count += 1
        if (!hasServed && running !== undefined && example !== undefined) console.log(example)
        hasServed ||= running !== undefined
      } catch (error) {
        isServed = false
        // A change in the meantime may have fixed the error.
        if (!hasChanged()) report(error as Error)
      }
    }
    if (!isEnding) prepare()
  }

  function nextDirectory(): string {
    return join(snapshots, String(count + 1))
  }

  /** Gets ready for the next change, now that nothing waits. */
  function prepare(): void {
    const roles = options.trial === undefined ? (['service'] as const) : (['trial', 'service'] as const)
    for (const role of roles) waiting[role] = takeProcess(role, nextDirectory())
    if (hasNewDocs && running !== undefined) {
      builder.send('write docs')
      hasNewDocs = false
    }
  }

  /** Returns a process for the snapshot in a directory: the one that waits if it suits. */
  function takeProcess(role: Role, directory: string): WaitingProcess {
    const known = waiting[role]
    delete waiting[role]
    if (known !== undefined && isUsable(known, directory, packages)) return known
    known?.child.kill('SIGKILL')
    return prepareProcess(directory, options.entry, packages, role === 'service')
  }

  /** Returns the bundle of a snapshot; undefined if it would equal the one that serves. */
  async function takeSnapshot(request: BuildRequest): Promise<Bundled | undefined> {
    builder.send(request)
    const [reply] = (await once(replies, `bundle ${request.snapshot}`)) as [BundleReply]
    if (reply === 'unchanged') return undefined
    if ('error' in reply) throw new Error(reply.error)
    return reply
  }

  /** Returns the messages of the compiler about a snapshot that is taken next. */
  async function messagesAbout(number: number): Promise<string> {
    const [messages] = await once(replies, `messages ${number}`)
    return messages
  }

  /**
   * Replaces the running service by a snapshot that is ready. Where the start is on trial, its types must be right, too;
   * otherwise they are reported when they are checked, which takes longer than the start.
   */
  async function replace(directory: string, checked: Promise<string>): Promise<void> {
    if (options.trial !== undefined) {
      // There is no service yet that a start could break.
      if (running === undefined) await assertTypes(checked)
      else await tryStart(directory, checked)
      await restart(directory)
      return
    }
    const started = start('service', directory, { onStderr: console.error })
    // The compiler says more about a handler that is missing than the service.
    serve(await started.catch((error) => assertTypes(checked).then(() => Promise.reject(error))))
    void reportTypes(snapshot, checked)
  }

  /** Starts a snapshot on trial while its types are checked. Rejects if either fails, or if there is a newer change. */
  async function tryStart(directory: string, checked: Promise<string>): Promise<void> {
    const cancel = new AbortController()
    const started = start('trial', directory, { environment: trial, signal: cancel.signal, onStderr: console.error })
    // The messages of the compiler come first.
    started.catch(() => {})
    try {
      await assertTypes(checked)
      await (await started).stop()
    } catch (error) {
      cancel.abort()
      await started.catch(() => {})
      throw error
    }
  }

  async function assertTypes(checked: Promise<string>): Promise<void> {
    const messages = await checked
    if (messages !== '') throw new Error(messages)
    if (hasChanged()) throw new Error('there is a newer change')
  }

  /** Reports the messages of the compiler about a snapshot that serves, unless a newer change may have fixed them. */
  async function reportTypes(number: number, checked: Promise<string>): Promise<void> {
    const messages = await checked
    if (messages === '' || number !== snapshot || hasChanged()) return
    console.error(messages)
    console.error('dev: the new service runs; correct the types above')
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
   * Starts a snapshot after the running service has ended, for a store that allows one process only. If the new one
   * fails on the real store, starts the old one again.
   */
  async function restart(directory: string): Promise<void> {
    const old = running
    if (old !== undefined) {
      front.hold()
      admin.hold()
      running = undefined
      await old.stop()
    }
    const startIn = (place: string) => start('service', place, { onStderr: console.error })
    try {
      serve(await startIn(directory))
    } catch (error) {
      if (old !== undefined) serve(await startIn(old.directory))
      throw error
    }
    if (old !== undefined) rmSync(old.directory, { recursive: true })
  }

  /** Sends new connections to a service. One that served before finishes its requests meanwhile. */
  function serve(service: Service): void {
    const old = running
    running = service
    forward(service)
    for (const line of service.written)
      console.error(line.replace(service.url, front.url).replace(service.adminUrl, admin.url))
    void service.ended.then((how) => {
      if (running !== service || isEnding) return
      running = undefined
      report(new Error(`dev: the service has ended with ${how}`))
    })
    if (old === undefined) return
    const retired = old.stop().then(() => rmSync(old.directory, { recursive: true, force: true }))
    retiring.add(retired)
    void retired.then(() => retiring.delete(retired))
  }

  function forward(service: Service | undefined): void {
    front.forward(service?.url)
    admin.forward(service?.adminUrl)
  }

  /** Stops the service gracefully at the first signal, so that it releases its store; a second signal exits at once. */
  async function end(): Promise<void> {
    if (isEnding) process.exit(1)
    isEnding = true
    await Promise.all([running?.stop(), ...retiring])
    process.exit()
  }
}

/** Returns what is watched of a document: its directory, which may have other files of it, and its overlays. */
function watchedPaths({ document, overlays }: DevDocument): string[] {
  const directory = dirname(document)
  // The directory of the project holds everything else, too.
  const own = directory === '.' ? document : directory
  return [own, ...overlays.filter((path) => existsSync(dirname(path)))]
}

/**
 * Starts the build process. It imports modules of the project, which are TypeScript: the sources of this module run
 * with a loader for that, and the built package needs tsx.
 */
function forkBuildProcess(options: DevOptions): ChildProcess {
  const extension = extname(import.meta.filename)
  const loader = extension === '.js' ? [`--import=${import.meta.resolve('tsx')}`] : []
  return fork(new URL(`../dev/build-process${extension}`, import.meta.url), [JSON.stringify(options)], {
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
