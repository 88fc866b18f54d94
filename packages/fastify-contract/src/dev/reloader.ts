import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FSWatcher, readdirSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { within } from '../../../../scripts/system/poll.ts'
import { application } from '../../../../src/config.ts'
import { exampleRequest } from '../../../../src/warm-up.ts'
import { newToken } from '../auth/tokens.ts'
import { readConfig } from '../service/config.ts'
import { openPortForwarder } from './port-forwarder.ts'

/** The debounce delay in milliseconds: editors write a file in several steps. */
const debounceDelay = 50

/**
 * Calls `changed` after changes below a folder. Watches each folder separately: Node's recursive watcher on Linux
 * watches files and loses a file that an editor replaces by a rename.
 */
export function watchFolder(root: string, changed: () => void): void {
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  const schedule = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      watchAll()
      changed()
    }, debounceDelay)
  }
  const watchAll = () => {
    const below = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
    for (const folder of [root, ...below.map(({ parentPath, name }) => join(parentPath, name))]) {
      if (watchers.has(folder)) continue
      const forget = () => {
        watchers.get(folder)?.close()
        watchers.delete(folder)
      }
      watchers.set(folder, watch(folder, schedule).on('error', forget))
    }
  }
  watchAll()
}

/** The time limit in milliseconds for a service to start and become ready. */
const startTimeout = 30_000

/** A running service, started from a snapshot of its code. */
export type SnapshotService = {
  directory: string
  url: string
  managementUrl: string
  /** The lines that it wrote to stderr before it was ready. */
  written: string[]
  /** Resolves with the exit code or signal when the process has ended. */
  ended: Promise<string>
  /** Stops the service gracefully; resolves when the process has ended. */
  stop(): Promise<void>
}

type Options = {
  environment?: Record<string, string>
  /** Receives the lines of stderr once the service is ready. Without it they and the log on stdout are dropped. */
  onStderr?: (line: string) => void
}

const banner = /^plant-store \S+ .*?on (\S+), store .*, management on (\S+)$/

/**
 * Starts a service on free ports; resolves when it is ready. Rejects with its output on stderr if it ends before that,
 * is not ready, or does not respond in time.
 */
export async function startSnapshot(
  directory: string,
  { environment = {}, onStderr }: Options = {},
): Promise<SnapshotService> {
  const child = spawn(process.execPath, [join(directory, 'dist', 'server.js')], {
    // Requests wait for the next service while this one drains, so it must drain fast.
    env: {
      ...process.env,
      DRAIN_TIME: '0',
      DRAIN_DEADLINE: '3000',
      // A warm-up would be wasted, because the next edit replaces this process.
      WARM_UP: 'off',
      ...environment,
      PORT: '0',
      MANAGEMENT_PORT: '0',
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
  const [, url = '', managementUrl = ''] = await within(
    new Promise<RegExpExecArray>((resolve, reject) => {
      createInterface(child.stderr)
        .on('line', (line) => {
          if (isReady) return onStderr?.(line)
          written.push(line)
          const found = banner.exec(line)
          if (found !== null) untilReady(found[2] as string).then(() => resolve(found), reject)
        })
        .on('close', () => reject(new Error(written.join('\n') || 'the service ended without a message')))
    }),
    () => ['the service to become ready', ...written].join('\n'),
    startTimeout,
  ).catch((error) => {
    kill()
    throw error
  })
  isReady = true
  const stop = async () => {
    child.kill('SIGINT')
    await ended
  }
  return { directory, url, managementUrl, written, ended, stop }
}

async function untilReady(managementUrl: string): Promise<void> {
  const response = await fetch(`${managementUrl}/readyz`)
  if (!response.ok) throw new Error(`the service is not ready: ${await response.text()}`)
}

/*
 * The main process of npm run dev: opens the ports, builds and starts the service, then watches for changes.
 */

// The same token for all restarts, so that users need not copy a new one after each change.
process.env.ACCESS_TOKENS ||= newToken()
const snapshots = join('dist', 'dev', String(process.pid))

let running: SnapshotService | undefined
let hasServed = false
let isEnding = false
let count = 0
/** Whether code or document have changed since the last snapshot. */
const changed = { code: true, document: true }
const hasChanged = () => (changed.code || changed.document) && !isEnding

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
process.on('exit', () => rmSync(snapshots, { recursive: true, force: true }))

const { config, front, management } = await open().catch((error: Error) => {
  console.error(`dev: ${error.message}`)
  process.exit(1)
})
console.log(`dev: building the service for ${front.url}`)
const builder = fork(new URL('./snapshot-process.ts', import.meta.url))
builder.on('exit', () => {
  if (isEnding) return
  console.error('dev: the build process has ended; start npm run dev again')
  process.exit(1)
})
let updating = update()
for (const [folder, what] of [
  ['src', 'code'],
  ['openapi', 'document'],
] as const) {
  watchFolder(folder, () => {
    changed[what] = true
    updating = updating.then(update)
  })
}

async function open() {
  const config = readConfig(process.env, application)
  if (config.own.STORE_URL === 'memory:') console.log('dev: STORE_URL=memory: loses its plants at each restart')
  return {
    config,
    front: await openPortForwarder(config),
    management: await openPortForwarder(config.management, 'MANAGEMENT_'),
  }
}

/** Repeats snapshots until there are no more changes, so that the last state is the one that runs. */
async function update(): Promise<void> {
  while (hasChanged()) {
    const hasNewDocument = changed.document
    changed.code = changed.document = false
    const directory = join(snapshots, String(++count))
    try {
      await takeSnapshot(directory, hasNewDocument)
      if (!hasChanged()) await replace(directory)
    } catch (error) {
      // A change in the meantime may have fixed the error.
      if (!hasChanged()) report(error as Error)
    }
  }
}

async function takeSnapshot(directory: string, hasNewDocument: boolean): Promise<void> {
  builder.send({ directory, hasNewDocument })
  const [{ error }] = await once(builder, 'message')
  if (error !== undefined) throw new Error(error)
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
  // Some stores allow one process only, so the trial uses a store in memory.
  const trial = await startSnapshot(directory, { environment: { STORE_URL: 'memory:' } })
  await trial.stop()
  front.hold()
  management.hold()
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
  const service = await startSnapshot(directory, { onStderr: console.error })
  running = service
  forward(service)
  for (const line of service.written)
    console.error(line.replace(service.url, front.url).replace(service.managementUrl, management.url))
  if (!hasServed) console.log(exampleRequest(front.url, config.tokens[0] as string))
  hasServed = true
  void service.ended.then((how) => {
    if (running !== service || isEnding) return
    running = undefined
    report(new Error(`dev: the service has ended with ${how}`))
  })
}

function forward(service: SnapshotService | undefined): void {
  front.forward(service?.url)
  management.forward(service?.managementUrl)
}

/** Stops the service gracefully at the first signal, so that it releases its store; a second signal exits at once. */
async function end(): Promise<void> {
  if (isEnding) process.exit(1)
  isEnding = true
  await running?.stop()
  process.exit()
}
