import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tokenVerifier } from './auth/tokens.ts'
import { type Config, readConfig } from './config.ts'
import type { Document } from './contract/document.ts'
import { openStore, withoutPassword } from './store/open.ts'

/** Milliseconds in which answers may still leave when the store has failed. */
const grace = 500

/** How the process ends at a signal; before it serves there is nothing to finish. */
let stop = async (): Promise<void> => process.exit()
onSignal()
await start().catch(end)

/** Ends the process at once: whatever else is open is of no use any more. */
function end(error: Error): never {
  process.stderr.write(`plant-store: ${error.message}\n`)
  process.exit(1)
}

async function start(): Promise<void> {
  const config = readConfig(process.env)
  const document: Document = JSON.parse(await readFile(new URL('../generated/openapi.json', import.meta.url), 'utf8'))
  // A store may open in a thread of its own, beside which the app is loaded.
  const [store, { createApp }] = await Promise.all([
    openStore(config.storeUrl).catch((error: Error) => {
      throw new Error(`STORE_URL is "${withoutPassword(config.storeUrl)}": ${error.message}`)
    }),
    import('./app.ts'),
  ])
  try {
    const app = await createApp({
      document,
      store,
      verifyToken: tokenVerifier(config.tokens),
      logger: { level: config.logLevel },
      bodyLimit: config.bodyLimit,
    })
    await app.listen({ host: config.host, port: config.port }).catch(explainListen(config))
    announce(config, document, app.server.address() as AddressInfo)
    stop = async () => {
      await app.close()
      await store.close()
    }
    void store.failure?.then(({ message }) => {
      // Who waits for an answer gets it, but a slow client does not keep the service from being started anew.
      setTimeout(end, grace, new Error(`the store has failed: ${message}`))
      void app.close()
    })
  } catch (error) {
    await store.close()
    throw error
  }
}

function explainListen({ host, port }: Config) {
  return (error: Error & { code?: string }) => {
    const reasons: Record<string, string> = {
      EADDRINUSE: `PORT is ${port}: another process listens on ${host}:${port}, allowed: a free port`,
      EADDRNOTAVAIL: `HOST is ${host}: this machine has no such address, allowed: one of its own`,
      EACCES: `PORT is ${port}: this user may not listen there, allowed: a port from 1024`,
    }
    const reason = reasons[error.code as string]
    throw reason === undefined ? error : new Error(reason)
  }
}

function announce(
  { generatedToken, storeUrl }: Config,
  { info }: Document,
  { address, port, family }: AddressInfo,
): void {
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  process.stdout.write(
    `plant-store ${info.version} on ${url}, store ${withoutPassword(storeUrl)}, docs by npm run docs\n`,
  )
  if (generatedToken === undefined) return
  process.stderr.write(
    `ACCESS_TOKENS is not set: this process takes the token ${generatedToken}\n` +
      `curl -X POST ${url}/plants -H 'Authorization: Bearer ${generatedToken}' ` +
      `-H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera deliciosa","tag":"indoor"}'\n`,
  )
}

/** The first signal finishes what is in flight, a second one ends the process at once. */
function onSignal(): void {
  let closing = false
  const handle = () => {
    if (closing) process.exit(1)
    closing = true
    stop().catch(end)
  }
  process.on('SIGTERM', handle).on('SIGINT', handle)
}
