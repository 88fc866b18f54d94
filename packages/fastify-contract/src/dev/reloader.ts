import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { exampleRequest } from '../../../../src/example-request.ts'
import { newToken } from '../auth/tokens.ts'
import { readConfig } from '../service/config.ts'
import { openPortForwarder } from './port-forwarder.ts'
import { type SnapshotService, startSnapshot } from './snapshot-service.ts'
import { watchFolder } from './watch-folders.ts'

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
  const config = readConfig(process.env)
  if (config.storeUrl === 'memory:') console.log('dev: STORE_URL=memory: loses its plants at each restart')
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
