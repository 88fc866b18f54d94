import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { acceptTokens } from './auth/accepted-tokens.ts'
import { type Config, readConfig } from './config.ts'
import type { Document } from './contract/document.ts'
import type { Exchange } from './contract/exchange.ts'
import { end, endAtSignals, grace, writeAtEnd } from './end.ts'
import { listen } from './listen.ts'
import { createLog, requestLog } from './log.ts'
import { openStore, withoutPassword } from './store/open.ts'

const documentPath = new URL('../generated/openapi.json', import.meta.url)
const docsPath = new URL('../dist/docs/index.html', import.meta.url)

/** What is open, to be closed in the other order. */
const opened: (() => unknown)[] = []
/** Why the service must not be sent more requests: it does not serve yet, or is about to end. */
let unready: string | undefined = 'starting'
/** How the process ends at a signal; before it serves there is nothing to finish. */
let stop = async (_signal: NodeJS.Signals): Promise<void> => process.exit()
// What cannot be told on stderr is no reason to end.
process.stderr.on('error', () => {})
endAtSignals((signal) => stop(signal))
await start().catch(end)

async function start(): Promise<void> {
  const config = readConfig(process.env)
  const documentText = await readFile(documentPath, 'utf8')
  const document: Document = JSON.parse(documentText)
  // A store may open in a thread of its own, beside which the rest is loaded.
  const [store, { createApp }, { createManagement }, { createMetrics }, log] = await Promise.all([
    openStore(config.storeUrl).catch((error: Error) => {
      throw new Error(`STORE_URL is "${withoutPassword(config.storeUrl)}": ${error.message}`)
    }),
    import('./app.ts'),
    import('./management.ts'),
    import('./metrics.ts'),
    createLog(config.log),
  ])
  writeAtEnd(log)
  opened.push(store.close)
  const metrics = createMetrics(document.info)
  const tokens = await acceptTokens(config, {
    load(clients) {
      metrics.tokens(true)
      log.info({ clients }, 'tokens file read')
    },
    error(err) {
      metrics.tokens(false)
      log.error({ err }, 'tokens file cannot be used, the last good one is kept')
    },
  })
  const logRequest = config.log.requests ? requestLog(log) : () => {}
  const app = await createApp({
    document,
    store,
    verifyToken: tokens.verify,
    log,
    limits: config.limits,
    observer: {
      begin: metrics.begin,
      end(exchange: Exchange) {
        metrics.end(exchange)
        logRequest(exchange)
      },
    },
    shed: metrics.shed,
    draining: () => unready !== undefined,
    trustProxy: config.trustProxy,
  })
  app.server.on('drop', () => metrics.refused('connections'))
  const management = createManagement({
    document,
    documentText,
    docs: fileURLToPath(docsPath),
    metrics: metrics.text,
    async ready() {
      if (unready !== undefined) throw new Error(unready)
      await store.ready()
    },
    onReady: metrics.ready,
  })
  const managementUrl = await listen(
    (place) => once(management.listen(place), 'listening'),
    management,
    config.management,
    'MANAGEMENT_',
  )
  opened.push(() => management.close().closeAllConnections())
  opened.push(() => app.close())
  const url = await listen((place) => app.listen(place), app.server, config)
  announce(config, document, url, managementUrl)
  unready = undefined
  stop = (signal) => drain(config, signal)
  void store.failure?.then(({ message }) => {
    // Who waits for an answer gets it, but a slow client does not keep the service from being started anew.
    setTimeout(end, grace, new Error(`the store has failed: ${message}`))
    unready = 'the store has failed'
    void app.close()
  })
}

/** Says what is served, and where; the log has stdout for itself. */
function announce({ generatedToken, storeUrl }: Config, { info }: Document, url: string, management: string): void {
  const store = withoutPassword(storeUrl)
  process.stderr.write(`plant-store ${info.version} on ${url}, store ${store}, management on ${management}\n`)
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
  unready = 'draining'
  setTimeout(end, deadline, new Error(`what was in flight has not ended within DRAIN_DEADLINE, ${deadline} ms`)).unref()
  if (signal === 'SIGTERM') await sleep(time)
  for (const close of opened.reverse()) await close()
}
