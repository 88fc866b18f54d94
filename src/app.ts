import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { authLimits } from '../packages/fastify-contract/src/auth/auth-limits.ts'
import { bearer } from '../packages/fastify-contract/src/auth/bearer.ts'
import type { VerifyToken } from '../packages/fastify-contract/src/auth/tokens.ts'
import { createVerifiers } from '../packages/fastify-contract/src/auth/verifier.ts'
import type { Observer } from '../packages/fastify-contract/src/http/request-context.ts'
import { serverOptions } from '../packages/fastify-contract/src/http/server-options.ts'
import { defaultLimits, type Limits } from '../packages/fastify-contract/src/limits/limits.ts'
import { bodyMemory, type ShedReason, watchOverload } from '../packages/fastify-contract/src/limits/load-shedding.ts'
import { networkOf, type RateLimit, rateLimit } from '../packages/fastify-contract/src/limits/rate-limit.ts'
import { registerOperations } from '../packages/fastify-contract/src/serve/register-operations.ts'
import type { Routes } from '../packages/fastify-contract/src/serve/routes.ts'
import { errorBody } from './error-body.ts'
import { handlers } from './handlers.ts'
import type { PlantOperations } from './store/plant-store.ts'

/** The options of createApp. */
export type AppOptions = {
  routes: Routes
  store: PlantOperations
  verifyToken: VerifyToken
  log: FastifyBaseLogger
  /** Overrides of the default limits. */
  limits?: Partial<Limits>
  /** Counts the requests of each client; default: by `limits.requests`. */
  requestLimit?: Pick<RateLimit, 'take'>
  observer?: Observer
  /** Called for each request that is rejected because of overload. */
  shed: (reason: ShedReason) => void
  /** Returns whether each response must close its connection. */
  draining?: () => boolean
  /** Milliseconds for which close() still serves idle connections after the listener closed; default 0. */
  linger?: number
  /** Addresses and CIDR ranges of the proxies whose X-Forwarded-For is trusted. */
  trustProxy?: string[]
  /** Origins whose pages may call the service from a browser; default: none. */
  origins?: string[]
  /** Returns the origins of the service's own pages, which may call it, too; default: none. */
  ownOrigins?: () => string[]
}

/** Assembles the service as one Fastify instance, which does not listen yet. The caller must close the store. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const {
    routes,
    store,
    verifyToken,
    log,
    observer,
    draining,
    linger,
    shed,
    trustProxy = [],
    origins,
    ownOrigins,
  } = options
  const limits = { ...defaultLimits, ...options.limits }
  const app = Fastify({
    ...serverOptions,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy.length > 0 && trustProxy,
    bodyLimit: limits.body,
    requestTimeout: limits.requestTime,
    keepAliveTimeout: limits.keepAliveTime,
    // A connection without any traffic for this long is dead.
    connectionTimeout: limits.requestTime + limits.handlerTime,
    http: {
      ...serverOptions.http,
      maxHeaderSize: limits.headers,
      // Node.js throws if headersTimeout exceeds requestTimeout.
      headersTimeout: Math.min(limits.headersTime, limits.requestTime),
      requestTimeout: limits.requestTime,
      // The interval in which Node.js checks for requests that have timed out.
      connectionsCheckingInterval: Math.min(1_000, limits.headersTime),
    },
  })
  // Not an option of Fastify(), which would add a listener to each response; setServerLogger sets it on each request.
  app.log = log
  app.server.maxConnections = limits.connections
  const overload = watchOverload(limits, shed)
  app.addHook('onClose', async () => overload.close())
  const { requestLimit = rateLimit(limits.requests) } = options
  const { withinFailureLimit, conclude } = authLimits(rateLimit(limits.authFailures, networkOf), requestLimit)
  const verifiers = await createVerifiers(
    { bearer: bearer(verifyToken) },
    { app, realm: 'plant-store', withinFailureLimit },
  )
  const { admit, run } = overload
  await registerOperations(app, {
    routes,
    handlers: handlers(store),
    verifiers,
    errorBody,
    conclude,
    observer,
    draining,
    headersLimit: limits.headers,
    linger,
    admit,
    run,
    memory: bodyMemory(limits.bodyMemory, shed),
    uploads: { bytes: limits.upload, fields: limits.formFields },
    origins,
    ownOrigins,
  })
  return app
}
