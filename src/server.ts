import { fileURLToPath } from 'node:url'
import { maskPassword } from 'fastify-contract/config'
import { type Resources, runService, type Tools } from 'fastify-contract/service'
import { contract } from '../generated/contract.mjs'
import { application, rethrowWithUrl } from './config.ts'
import { openStore } from './store/open.ts'
import { watchStore } from './store/store-health.ts'

await runService({
  ...application,
  name: 'plant-store',
  contract,
  docs: fileURLToPath(new URL('../dist/docs/index.html', import.meta.url)),
  open: ({ STORE_URL }, tools) => open(STORE_URL, tools),
})

/** Opens the store, and loads the server meanwhile: a store may open in its own thread. */
async function open(url: string, tools: Promise<Tools>): Promise<Resources> {
  const [store, { createApp }, { measureStore }, { log, registry }] = await Promise.all([
    openStore(url).catch(rethrowWithUrl(url)),
    import('./app.ts'),
    import('./store/store-metrics.ts'),
    tools,
  ])
  measureStore(registry)
  const health = watchStore(store, function logHealth(reason) {
    if (reason === undefined) log.info('store accepts writes again')
    else log.error({ reason }, 'store rejects writes; the service is not ready')
  })
  return {
    description: `store ${maskPassword(url)}`,
    health,
    exampleRequest: (url, token) =>
      `curl -X POST ${url}/plants -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' ` +
      `-d '{"id":1,"name":"Monstera deliciosa","tag":"indoor"}'`,
    failure: store.failure?.then(({ message }) => new Error(`the store has failed: ${message}`)),
    createServer: (contract, verifyToken, settings) =>
      createApp({ contract, store: { ...store, create: health.create }, verifyToken, ...settings }),
    async close() {
      health.close()
      await store.close()
    },
  }
}
