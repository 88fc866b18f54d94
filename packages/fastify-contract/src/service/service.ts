import type { AddressInfo } from 'node:net'
import { maskPassword, openStore } from '../../../../src/store/open.ts'
import { watchStore } from '../../../../src/store/store-health.ts'
import { createTokenVerifier, type TokenSources } from '../auth/token-verifier.ts'
import { rateLimit } from '../limits/rate-limit.ts'
import type { Routes } from '../serve/routes.ts'
import { requiredScopes } from '../serve/security.ts'
import type { AdminOptions } from './admin-server.ts'
import type { Config } from './config.ts'
import { createLog } from './log.ts'
import { beforeExit, grace } from './shutdown.ts'
import { type Effects, observe, withWarmUp } from './warm-up.ts'

/**
 * Milliseconds for which idle connections are still served after the listener closed; less if DRAIN_DEADLINE follows
 * soon after DRAIN_TIME.
 */
const linger = 1_000

/** The running service. */
export type Service = Pick<AdminOptions, 'metrics' | 'ready' | 'onReady'> & {
  /** Starts serving and resolves with the URL. */
  listen(): Promise<string>
  /** Makes the service unready; from then on each response closes its connection. */
  drain(): void
  /** Stops accepting connections. Resolves when the requests in flight have finished and all connections are closed. */
  close(): Promise<void>
}

/**
 * Opens the store, the token file and the log, and returns the service in this process, which is not listening yet.
 * Rejects with a one-line message that names the variable to change. If the store fails permanently later, `onFailure`
 * is called after a grace period for pending responses. `ownOrigins` returns the origins of the service's own pages.
 */
export async function openService(
  config: Config,
  routes: Routes,
  onFailure: (error: Error) => void,
  ownOrigins: () => string[],
): Promise<Service> {
  // In parallel: a store may open in its own thread while the other modules load.
  const [store, { createApp }, { createMetrics }, { log, logRequest }] = await Promise.all([
    openStore(config.storeUrl).catch((error: Error) => {
      throw new Error(`STORE_URL is "${maskPassword(config.storeUrl)}": ${error.message}`)
    }),
    import('../../../../src/app.ts'),
    import('./metrics.ts'),
    createLog(config.log),
  ])
  beforeExit((done) => log.flush(done))
  /** Why the service is not ready, apart from the health of the store. */
  let unready: string | undefined = 'starting'
  const metrics = createMetrics(routes.info)
  // The generated token is for evaluation, so it may call every operation.
  const scopes = config.generatedToken === undefined ? [] : requiredScopes(routes.operations)
  const sources: TokenSources = { ...config, scopes }
  const tokens = await createTokenVerifier(sources, {
    load(clients) {
      metrics.tokens(true)
      log.info({ clients }, 'token file loaded')
    },
    error(err) {
      metrics.tokens(false)
      log.error({ err }, 'token file cannot be used; the last valid one stays in use')
    },
    large(bytes) {
      log.warn({ bytes }, 'token file is large, so a change takes seconds to apply; remove expired tokens')
    },
  })
  const health = watchStore(store, (reason) => {
    if (reason === undefined) log.info('store accepts creates again')
    else log.error({ reason }, 'store rejects creates; the service is not ready')
  })
  const effects: Effects = {
    store: { ...store, create: health.create },
    verifyToken: tokens.verify,
    requestLimit: rateLimit(config.limits.requests),
    observer: observe(metrics, config.log.requests ? logRequest : () => {}),
    shed: metrics.shed,
    draining: () => unready !== undefined,
  }
  const { options, warmUp } = withWarmUp(effects)
  const app = await createApp({
    routes,
    ...options,
    log,
    limits: config.limits,
    linger: Math.min(linger, (config.drain.deadline - config.drain.time) / 4),
    trustProxy: config.trustProxy,
    origins: config.origins,
    ownOrigins,
  })
  if (config.warmUp) {
    await warmUp(app, routes, store).catch((err: Error) => log.debug({ err }, 'warm-up failed'))
  }
  app.server.on('drop', () => metrics.refused('connections'))
  void store.failure?.then(({ message }) => {
    // In-flight requests get a moment to finish; a slow client must not delay the restart.
    setTimeout(onFailure, grace, new Error(`the store has failed: ${message}`))
    unready = 'the store has failed'
    void app.close()
  })
  return {
    metrics: metrics.text,
    onReady: metrics.ready,
    async listen() {
      const url = await listen((address) => app.listen(address), app.server, config)
      await health.known
      unready = undefined
      return url
    },
    async ready() {
      const reason = unready ?? health.reason()
      if (reason !== undefined) throw new Error(reason)
    },
    drain() {
      unready = 'draining'
    },
    async close() {
      await app.close()
      health.close()
      await store.close()
      await new Promise((resolve) => log.flush(resolve))
    },
  }
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
  await start({ host, port }).catch((error: Error & { code?: string }) => {
    const reason = reasons[error.code as string]
    throw reason === undefined ? error : new Error(reason)
  })
  const bound = server.address() as AddressInfo
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
}
