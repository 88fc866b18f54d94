import type { Server } from 'node:http'
import type { ManagementOptions } from '../admin/pages.ts'
import { acceptTokens, type TokenSources } from '../auth/token-verifier.ts'
import type { Config } from '../config/read-config.ts'
import type { RequestContext } from '../http/request-context.ts'
import { createLog } from '../observability/log.ts'
import type { Figures } from '../observability/metrics.ts'
import type { Routes } from '../openapi/routes.ts'
import { requiredScopes } from '../openapi/security.ts'
import { openStore, withoutPassword } from '../store/open.ts'
import { listen } from './listen.ts'
import { beforeEnd, grace } from './shutdown.ts'
import { watchStore } from './store-health.ts'

/** Milliseconds for which idle connections are still served after the listener closed, unless DRAIN_DEADLINE is near. */
const linger = 1_000

/** What serves plants, in this process or in others, and what its management asks it. */
export type Service = Pick<ManagementOptions, 'metrics' | 'ready' | 'onReady'> & {
  /** Resolves with its URL once it serves. */
  listen(): Promise<string>
  /** From now on it is unready, and each answer ends its connection. */
  drain(): void
  /** Rejects new requests and resolves when the requests in flight have finished. */
  close(): Promise<void>
}

export type OwnService = Service & {
  server: Server
  figures(): Promise<Figures>
  /** Serves from now on what the server is given, without a listener. */
  begin(): Promise<void>
}

/**
 * Opens store, tokens and log; gives the service in this process, which does not listen yet. Rejects with one line that
 * names the variable to change. When the store fails for good later, `failed` is told once answers have had time to leave.
 */
export async function openService(config: Config, routes: Routes, failed: (error: Error) => void): Promise<OwnService> {
  // A store may open in a thread of its own, beside which the rest is loaded.
  const [store, { createApp }, { createMetrics }, { log, logRequest }] = await Promise.all([
    openStore(config.storeUrl).catch((error: Error) => {
      throw new Error(`STORE_URL is "${withoutPassword(config.storeUrl)}": ${error.message}`)
    }),
    import('../app.ts'),
    import('../observability/metrics.ts'),
    createLog({ ...config.log, isShared: config.workers > 1 }),
  ])
  beforeEnd((done) => log.flush(done))
  /** Why the service must not be sent more requests: it does not serve yet, or is about to end. */
  let unready: string | undefined = 'starting'
  const metrics = createMetrics(routes.info)
  // The generated token is for trying the service out, so it may call every operation.
  const scopes = config.generatedToken === undefined ? [] : requiredScopes(routes.operations)
  const accepted: TokenSources = { ...config, scopes }
  const tokens = await acceptTokens(accepted, {
    load(clients) {
      metrics.tokens(true)
      log.info({ clients }, 'tokens file read')
    },
    error(err) {
      metrics.tokens(false)
      log.error({ err }, 'tokens file cannot be used, the last good one is kept')
    },
    large(bytes) {
      log.warn({ bytes }, 'tokens file is large, each change of it takes seconds to count; remove expired tokens')
    },
  })
  const health = watchStore(store, (reason) => {
    if (reason === undefined) log.info('store takes creates again')
    else log.error({ reason }, 'store takes no creates, the service is not ready')
  })
  const app = await createApp({
    routes,
    store: { ...store, create: health.create },
    verifyToken: tokens.verify,
    log,
    limits: config.limits,
    observer: {
      begin: metrics.begin,
      end(context: RequestContext) {
        metrics.end(context)
        if (config.log.requests) logRequest(context)
      },
    },
    shed: metrics.shed,
    draining: () => unready !== undefined,
    linger: Math.min(linger, (config.drain.deadline - config.drain.time) / 4),
    trustProxy: config.trustProxy,
    origins: config.origins,
  })
  app.server.on('drop', () => metrics.refused('connections'))
  void store.failure?.then(({ message }) => {
    // Who waits for an answer gets it, but a slow client does not keep the service from being started anew.
    setTimeout(failed, grace, new Error(`the store has failed: ${message}`))
    unready = 'the store has failed'
    void app.close()
  })
  async function begin(): Promise<void> {
    await app.ready()
    await health.known
    unready = undefined
  }
  return {
    server: app.server,
    figures: metrics.figures,
    metrics: metrics.text,
    onReady: metrics.ready,
    begin,
    async listen() {
      const url = await listen((place) => app.listen(place), app.server, config)
      await begin()
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
    },
  }
}
