import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'
import { createTokenVerifier, type TokenSources } from '../auth/token-verifier.ts'
import type { VerifyToken } from '../auth/tokens.ts'
import type { Contract } from '../contract/routes.ts'
import { rateLimit } from '../limits/limits.ts'
import type { ServerOptions } from '../routes/create-server.ts'
import { requiredScopes } from '../routes/security.ts'
import type { AdminApi } from './admin-pages.ts'
import { type Application, type Config, environmentVariables, readConfig } from './config.ts'
import { loadEnvironmentFile } from './environment-file.ts'
import { createLog } from './log.ts'
import { pageOrigins } from './loopback.ts'
import { misspelledVariables } from './misspelled-variables.ts'
import { prepareStderr } from './non-blocking-terminal.ts'
import { checkServed, exampleCommands, operationsOf, type Served, servedApis, versionsOf } from './service-apis.ts'
import { beforeExit, exitWithError, grace, onShutdownSignal } from './shutdown.ts'

export { loadEnvironmentFile } from './environment-file.ts'
export { browserUrl, pageOrigins } from './loopback.ts'

/**
 * Milliseconds for which idle connections are still served after the listener closed, but at most a quarter of the time
 * from DRAIN_TIME to DRAIN_DEADLINE.
 */
const keepAliveGrace = 1_000

/**
 * Milliseconds without load after which V8 returns memory to the operating system. That garbage collection also drops
 * optimized code: after the default of 8 s (Node.js 24), the first seconds of the next load cost 1.6 times as much.
 */
const memoryReducerDelay = 600_000

/** What an application passes to `runService`, apart from its documents: its environment variables and its resources. */
type Process<Name extends string, Contracts> = Application<Name> & {
  /** The name of the service in messages, such as pet-store. Metrics have it as their prefix, with underscores. */
  name: string
  /** The path of a file with environment variables, which may be missing: those that are set have precedence; default: none. */
  environmentFile?: string
  /**
   * Opens what the handlers need, such as a store. Rejects with a one-line message that names the variable to change.
   *
   * @param own The values of the application's own environment variables.
   * @param tools Resolves with the log and the metrics, which load in parallel.
   */
  open(own: Record<Name, string>, tools: Promise<Tools>): Promise<Resources<Contracts>>
}

/** What an application passes to `runService`: its environment variables, its contract, and how to open its resources. */
export type Service<Name extends string> = Process<Name, Contract> & {
  /** The export of `generated/contract.mjs`. */
  contract: Contract
  contracts?: undefined
  /** The path of the documentation page, which may be missing; default: dist/docs/index.html. */
  docs?: string
}

/** The same as `Service`, for several documents below different prefixes. */
export type MultiService<Name extends string, Prefix extends string> = Process<
  Name,
  Record<NoInfer<Prefix>, Contract>
> & {
  /** The export of `contract.mjs` of each document, by the prefix of its paths, such as `/v1`. */
  contracts: Record<Prefix, Contract>
  contract?: undefined
  /** The paths of the documentation pages, which may be missing, by prefix; default for `/v1`: dist/docs/v1/index.html. */
  docs?: { [Each in NoInfer<Prefix>]?: string }
}

/**
 * What `runService` takes: a service of one document, which has no prefixes, or of several. With a union or with overloads
 * instead, the compiler would explain each mistake for both kinds of services.
 */
type ServiceOf<Name extends string, Prefix extends string> = [Prefix] extends [never]
  ? Service<Name>
  : MultiService<Name, Prefix>

/** A service with one document or several. */
type AnyService<Name extends string> = Process<Name, Contract | Record<string, Contract>> & Served

/** What the process offers to the application: its log, and the registry of its metrics. */
export type Tools = { log: FastifyBaseLogger; registry: Registry }

/** The options of `createServer` that `runService` sets. */
export type ServerSettings = Omit<
  Required<ServerOptions<unknown>>,
  'contract' | 'handlers' | 'verifiers' | 'errorBody' | 'realm' | 'plugins' | 'idempotency'
>

/** What the handlers of a service need while it runs. `Contracts` is what the service got: one document, or several. */
export type Resources<Contracts = Contract> = {
  /** One phrase about the resources, which the first line on stderr contains; default: the number of operations. */
  description?: string
  /** Default: always healthy. */
  health?: Health
  /** Creates the server; see `createServer`, and `createMultiServer` for several documents. */
  createServer(contracts: Contracts, verifyToken: VerifyToken, settings: ServerSettings): FastifyInstance
  /** Returns a shell command that calls the service at `url` with a token; default: the example of each contract. */
  exampleRequest?(url: string, token: string): string | undefined
  /** Resolves with the reason when the resources have failed for good, so that the process must end. */
  failure?: Promise<Error> | undefined
  /** Releases the resources. Called once the requests in flight have finished; default: nothing. */
  close?(): Promise<void>
}

/** Whether a service can do its work. */
export type Health = {
  /** Resolves when the health is known for the first time. */
  known: Promise<void>
  /** Returns why the service cannot do its work now; undefined if it can. */
  reason(): string | undefined
}

/**
 * Runs a service in this process until SIGTERM or SIGINT: reads its configuration from the environment, opens its
 * resources, listens, and serves probes, metrics and docs on the admin server. An error ends the process with exit code
 * 1 and one line on stderr. Several documents share everything but their handlers and pages.
 */
export function runService<Name extends string, Prefix extends string = never>(
  service: ServiceOf<Name, Prefix>,
): Promise<void> {
  return runProcess(service as AnyService<Name>)
}

async function runProcess<Name extends string>(service: AnyService<Name>): Promise<void> {
  // Until the service has started, a signal ends the process at once, without draining.
  let stop = async (_signal: NodeJS.Signals): Promise<void> => process.exit()
  const fail = exitWithError(service.name)
  setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${memoryReducerDelay}`)
  prepareStderr()
  onShutdownSignal((signal) => stop(signal), fail)
  try {
    const { environmentFile } = service
    const apis = servedApis(service)
    const fileNames = environmentFile === undefined ? [] : loadEnvironmentFile(environmentFile)
    reportMisspelled(fileNames, environmentFile, [
      ...Object.keys(environmentVariables),
      ...Object.keys(service.variables ?? {}),
    ])
    const operations = operationsOf(apis)
    const isSecured = operations.some(({ security }) => security.some((one) => Object.keys(one).length > 0))
    const config = readConfig(process.env, service, isSecured)
    let adminOrigins: string[] = []
    const [instance, { createAdminServer }] = await Promise.all([
      openInstance(service, config, apis, fail, () => adminOrigins),
      import('./admin-server.ts'),
    ])
    let url: string | undefined
    const adminServer = createAdminServer({
      apis,
      metrics: instance.metrics,
      unreadyReason: instance.unreadyReason,
      onReady: instance.onReady,
      serviceUrl: () => url,
    })
    const adminUrl = await listen(
      (address) => once(adminServer.listen(address), 'listening'),
      adminServer,
      config.management,
      'MANAGEMENT_',
    )
    adminOrigins = pageOrigins(adminUrl)
    url = await instance.start()
    printLine(`${service.name} ${versionsOf(apis)} on ${url}, ${instance.description}, admin server on ${adminUrl}`)
    if (config.generatedToken !== undefined) {
      printLine(`ACCESS_TOKENS is not set; using the generated token ${config.generatedToken}`)
    }
    // Without configured credentials this is someone trying the service, so an example request is printed.
    const isTrial = config.generatedToken !== undefined || !isSecured
    const example = isTrial ? instance.exampleRequest(url, config.generatedToken ?? '') : undefined
    if (example !== undefined) printLine(example)
    stop = async function stop(signal) {
      await shutDown(instance, config.drain, signal, fail)
      adminServer.close().closeAllConnections()
    }
  } catch (error) {
    fail(error as Error)
  }
}

/**
 * Warns of environment variables that are probably misspelled. The environment may have variables of other programs, but
 * the file is that of the service.
 *
 * @throws {Error} If the file has one.
 */
function reportMisspelled(fileNames: string[], file: string | undefined, known: string[]): void {
  for (const { given, meant } of misspelledVariables(setNames(), known)) {
    if (fileNames.includes(given))
      throw new Error(`${file}: ${given} is not a variable of this service; did you mean ${meant}?`)
    printLine(`${given} is set, but is not a variable of this service; did you mean ${meant}?`)
  }
}

/** Returns the names of the environment variables that are set. An empty one counts as not set. */
const setNames = () => Object.keys(process.env).filter((name) => process.env[name] !== '')

/** Prints a line to stderr; stdout is for the log only. */
const printLine = (line: string) => process.stderr.write(`${line}\n`)

const defaultResources = {
  health: { known: Promise.resolve(), reason: () => undefined },
  close: async () => {},
}

type Instance = Awaited<ReturnType<typeof openInstance>>

/**
 * Opens the resources, the token file and the log, and returns the service in this process, which is not listening yet.
 * If the resources fail permanently later, `onFailure` is called after a grace period for pending responses.
 * `ownOrigins` returns the origins of the service's own pages.
 */
async function openInstance<Name extends string>(
  service: AnyService<Name>,
  config: Config<Name>,
  apis: AdminApi[],
  onFailure: (error: Error) => void,
  ownOrigins: () => string[],
) {
  const { name, open } = service
  const operations = operationsOf(apis)
  const observers = createObservers(name, config, apis)
  // In parallel: a store may open in its own thread while the other modules load.
  const [opened, { log, logRequest, metrics }] = await Promise.all([open(config.own, observers), observers])
  const description = `operations: ${operations.length}`
  const { health, ...resources } = { description, ...defaultResources, ...opened }
  /** Why the service is not ready, apart from the health of its resources. */
  let unready: string | undefined = 'starting'
  // The generated token is for evaluation, so it may call every operation.
  const scopes = config.generatedToken === undefined ? config.scopes : requiredScopes(operations)
  const sources: TokenSources = { ...config, scopes }
  // The timer of the token verifier does not keep the process alive, so nothing closes the verifier.
  const tokenVerifier = await createTokenVerifier(sources, {
    load(clients) {
      metrics.tokens(true)
      log.info({ clients }, 'token file loaded')
    },
    error(err) {
      metrics.tokens(false)
      log.error({ err }, 'invalid token file; keeping the previous tokens')
    },
    large(bytes) {
      log.warn({ bytes }, 'token file is large, so a change takes seconds to apply; remove expired tokens')
    },
  })
  const app = await resources.createServer(service.contracts ?? service.contract, tokenVerifier.verify, {
    requestLimit: rateLimit(config.limits.requests),
    observer: {
      begin: metrics.begin,
      end(context) {
        metrics.end(context)
        if (config.log.requests) logRequest(context)
      },
    },
    shed: metrics.shed,
    draining: () => unready !== undefined,
    log,
    limits: config.limits,
    keepAliveGrace: Math.min(keepAliveGrace, (config.drain.deadline - config.drain.time) / 4),
    trustProxy: config.trustProxy,
    origins: config.origins,
    ownOrigins,
  })
  checkServed(service, app)
  app.server.on('drop', () => metrics.refused('connections'))
  void resources.failure?.then(function closeAfter(error) {
    // In-flight requests get a moment to finish; a slow client must not delay the restart.
    setTimeout(onFailure, grace, error)
    unready = error.message
    app.close().catch(onFailure)
  })
  return {
    description: resources.description,
    exampleRequest: opened.exampleRequest ?? ((url: string, token: string) => exampleCommands(apis, url, token)),
    metrics: metrics.text,
    onReady: metrics.ready,
    /** Starts serving and resolves with the URL. */
    async start() {
      // Beyond Node's backlog of 511, a burst of connections waits for TCP retransmissions, and gets 408 after seconds.
      const backlog = Math.max(511, config.limits.connections)
      const url = await listen((address) => app.listen({ ...address, backlog }), app.server, config)
      await health.known
      unready = undefined
      return url
    },
    unreadyReason: () => unready ?? health.reason(),
    /** Makes the service unready; from then on each response closes its connection. Logs the `time` that it waits. */
    drain(time: number) {
      unready = 'draining'
      if (time > 0) log.info({ drain_time_ms: time }, 'draining')
    },
    /**
     * Stops accepting connections, and closes the resources and the log when the requests in flight have finished and
     * all connections are closed. Rejects with the error of a hook of the application or of the resources.
     */
    async close() {
      // A hook that fails must not keep the resources open.
      await app.close().finally(resources.close)
      await new Promise((resolve) => log.flush(resolve))
    },
    /** Closes all connections at once, also those with requests in flight. */
    cutOff: () => app.server.closeAllConnections(),
  }
}

/** Creates the log and the metrics, whose module loads meanwhile. Requests are logged by `logRequest`. */
async function createObservers(name: string, { log: options }: Config, apis: AdminApi[]) {
  const hasApis = apis.length > 1
  const [{ log, logRequest }, { createMetrics }] = await Promise.all([
    createLog(name, options, hasApis),
    import('./metrics.ts'),
  ])
  beforeExit((done) => log.flush(done))
  const versions = Object.fromEntries(apis.map(({ prefix, contract }) => [prefix, contract.routes.info.version]))
  const metrics = createMetrics(versions, name.replaceAll('-', '_'))
  return { log, logRequest, metrics, registry: metrics.registry }
}

/**
 * Makes the service unready, keeps serving for DRAIN_TIME so that load balancers notice, and then finishes the requests
 * in flight. After SIGINT, which a terminal sends, it skips the wait. At DRAIN_DEADLINE, requests in flight are cut off
 * and `fail` is called. If only handles of the application are left then, such as a timer, the process exits with 0.
 */
async function shutDown(
  instance: Instance,
  { time, deadline }: Config['drain'],
  signal: NodeJS.Signals,
  fail: (error: Error) => void,
): Promise<void> {
  const wait = signal === 'SIGTERM' ? time : 0
  instance.drain(wait)
  let closing: Promise<void> | undefined
  let isClosed = false
  const close = () => (closing ??= instance.close())
  const end = async () => {
    if (isClosed) process.exit()
    instance.cutOff()
    // The resources get a moment to close.
    await Promise.race([Promise.allSettled([close()]), sleep(grace)])
    fail(new Error(`shutdown timed out after DRAIN_DEADLINE (${deadline} ms) with requests in flight`))
  }
  setTimeout(end, deadline).unref()
  await sleep(wait)
  await close()
  isClosed = true
}

export type ListenAddress = { host: string; port: number }

/**
 * Starts a server and resolves with its URL (RFC 3986 section 3.2.2) once it listens. `prefix` is the prefix of the
 * environment variables HOST and PORT. Rejects with a one-line message that names the variable to change.
 */
export async function listen(
  start: (address: ListenAddress) => Promise<unknown>,
  server: { address(): AddressInfo | string | null },
  { host, port }: ListenAddress,
  prefix = '',
): Promise<string> {
  const reasons: Record<string, string> = {
    EADDRINUSE: `${prefix}PORT is ${port}: another process listens on ${host}:${port}; use a free port`,
    EADDRNOTAVAIL: `${prefix}HOST is ${host}: this machine has no such address; use one of its own`,
    EACCES: `${prefix}PORT is ${port}: this user may not listen on that port; use port 1024 or above`,
  }
  await start({ host, port }).catch(function explainFailure(error: Error & { code?: string }) {
    const reason = reasons[error.code as string]
    throw reason === undefined ? error : new Error(reason)
  })
  const bound = server.address() as AddressInfo
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
}
