import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { tokenVerifier } from './auth/tokens.ts'
import { type Config, readConfig } from './config.ts'
import type { Document } from './contract/document.ts'
import { explainListen, urlOf } from './listen.ts'
import { createLog, requestLog } from './log.ts'
import { openStore, withoutPassword } from './store/open.ts'

/** Milliseconds in which answers may still leave when the store has failed. */
const grace = 500

/** What is open, to be closed in the other order. */
const opened: (() => unknown)[] = []
/** Still serving, but about to end: each answer closes its connection. */
let draining = false
/** How the process ends at a signal; before it serves there is nothing to finish. */
let stop = async (_signal: NodeJS.Signals): Promise<void> => process.exit()
onSignal()
await start().catch(async (error) => {
  await close().catch(() => {})
  end(error)
})

async function start(): Promise<void> {
  const config = readConfig(process.env)
  const document: Document = JSON.parse(await readFile(new URL('../generated/openapi.json', import.meta.url), 'utf8'))
  const log = await createLog(config.log)
  // A store may open in a thread of its own, beside which the app is loaded.
  const [store, { createApp }] = await Promise.all([
    openStore(config.storeUrl).catch((error: Error) => {
      throw new Error(`STORE_URL is "${withoutPassword(config.storeUrl)}": ${error.message}`)
    }),
    import('./app.ts'),
  ])
  opened.push(store.close)
  const app = await createApp({
    document,
    store,
    verifyToken: tokenVerifier(config.tokens),
    log,
    limits: config.limits,
    observer: { begin() {}, end: config.log.requests ? requestLog(log) : () => {} },
    draining: () => draining,
    trustProxy: config.trustProxy,
  })
  await app.listen({ host: config.host, port: config.port }).catch((error) => {
    throw explainListen(config, error)
  })
  opened.push(app.close)
  announce(config, document, urlOf(app.server.address() as AddressInfo))
  stop = (signal) => drain(config, signal)
  void store.failure?.then(({ message }) => {
    // Who waits for an answer gets it, but a slow client does not keep the service from being started anew.
    setTimeout(end, grace, new Error(`the store has failed: ${message}`))
    draining = true
    void app.close()
  })
}

/** Says what is served, and where; the log has stdout for itself. */
function announce({ generatedToken, storeUrl }: Config, { info }: Document, url: string): void {
  process.stderr.write(`plant-store ${info.version} on ${url}, store ${withoutPassword(storeUrl)}\n`)
  if (generatedToken === undefined) return
  process.stderr.write(
    `ACCESS_TOKENS is not set: this process takes the token ${generatedToken}\n` +
      `curl -X POST ${url}/plants -H 'Authorization: Bearer ${generatedToken}' ` +
      `-H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera deliciosa","tag":"indoor"}'\n`,
  )
}

/**
 * Goes on serving while whoever sends requests here learns that this instance is about to end, then finishes what is in
 * flight. Somebody at a terminal does not wait for that.
 */
async function drain({ drain: { time, deadline } }: Config, signal: NodeJS.Signals): Promise<void> {
  draining = true
  setTimeout(end, deadline, new Error(`what was in flight has not ended within DRAIN_DEADLINE, ${deadline} ms`)).unref()
  if (signal === 'SIGTERM') await sleep(time)
  await close()
}

async function close(): Promise<void> {
  for (const closeOne of opened.splice(0).reverse()) await closeOne()
}

/** Ends the process at once: whatever else is open is of no use any more. */
function end(error: Error): never {
  process.stderr.write(`plant-store: ${error.message}\n`)
  process.exit(1)
}

/** The first signal drains, a second one ends the process at once. */
function onSignal(): void {
  let stopping = false
  const handle = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    stop(signal).catch(end)
  }
  process.on('SIGTERM', handle).on('SIGINT', handle)
}
