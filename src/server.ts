import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Contract, loadContract } from '../packages/fastify-contract/src/serve/load-contract.ts'
import { type Config, readConfig } from '../packages/fastify-contract/src/service/config.ts'
import { prepareStderr } from '../packages/fastify-contract/src/service/non-blocking-terminal.ts'
import { listen, openService, type Service } from '../packages/fastify-contract/src/service/service.ts'
import { exitWithError, onShutdownSignal } from '../packages/fastify-contract/src/service/shutdown.ts'
import { exampleRequest } from './example-request.ts'
import { maskPassword } from './store/open.ts'

const generated = new URL('../generated/', import.meta.url)
const docsPath = new URL('../dist/docs/index.html', import.meta.url)

/** Runs at the first signal. Before the service has started there is nothing to finish, so the process exits. */
let stop = async (_signal: NodeJS.Signals): Promise<void> => process.exit()
prepareStderr()
onShutdownSignal((signal) => stop(signal))
await start().catch(exitWithError)

async function start(): Promise<void> {
  const config = readConfig(process.env)
  const contract = await loadContract(generated)
  let origins: string[] = []
  const [service, { createAdminServer, pageOrigins }] = await Promise.all([
    openService(config, contract.routes, exitWithError, () => origins),
    import('../packages/fastify-contract/src/service/admin-server.ts'),
  ])
  const { metrics, ready, onReady } = service
  const docs = fileURLToPath(docsPath)
  let url: string | undefined
  const adminServer = createAdminServer({ contract, docs, metrics, ready, onReady, serviceUrl: () => url })
  const adminUrl = await listen(
    (address) => once(adminServer.listen(address), 'listening'),
    adminServer,
    config.management,
    'MANAGEMENT_',
  )
  origins = pageOrigins(adminUrl)
  url = await service.listen()
  announce(config, contract, url, adminUrl)
  stop = async (signal) => {
    await drain(service, config, signal)
    adminServer.close().closeAllConnections()
  }
}

/** Prints what is served, and where, to stderr; stdout is for the log only. */
function announce({ generatedToken, storeUrl }: Config, { routes }: Contract, url: string, adminUrl: string) {
  const store = maskPassword(storeUrl)
  process.stderr.write(`plant-store ${routes.info.version} on ${url}, store ${store}, management on ${adminUrl}\n`)
  if (generatedToken === undefined) return
  process.stderr.write(
    `ACCESS_TOKENS is not set: this process accepts the token ${generatedToken}\n` +
      `${exampleRequest(url, generatedToken)}\n`,
  )
}

/**
 * Makes the service unready, keeps serving for DRAIN_TIME so that load balancers notice, and then finishes the requests
 * in flight. After SIGINT, which a terminal sends, it skips the wait.
 */
async function drain(service: Service, { drain: { time, deadline } }: Config, signal: NodeJS.Signals): Promise<void> {
  service.drain()
  setTimeout(
    exitWithError,
    deadline,
    new Error(`requests in flight did not finish within DRAIN_DEADLINE, ${deadline} ms`),
  ).unref()
  if (signal === 'SIGTERM') await sleep(time)
  await service.close()
}
