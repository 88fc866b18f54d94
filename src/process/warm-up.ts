import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { AppOptions } from '../app.ts'
import { listVerifier, newToken } from '../auth/tokens.ts'
import type { RequestContext } from '../http/request-context.ts'
import { requestLog } from '../observability/log.ts'
import { createMetrics } from '../observability/metrics.ts'
import type { Routes } from '../openapi/routes.ts'
import { requiredScopes } from '../openapi/security.ts'
import { openStore, type PlantStore } from '../store/open.ts'
import { warmUpRequests } from './example-request.ts'

const nowhere = { write() {} }

/** Connections at once, how many follow each other there, and the requests on each of them. */
const [lanes, successors, requests] = [16, 25, 20]

/** What the requests of an app reach outside of it. */
export type Effects = Required<Pick<AppOptions, 'store' | 'verifyToken' | 'observer' | 'shed' | 'draining'>>

/** Returns what counts each request and logs it. */
export const observe = (
  metrics: Pick<ReturnType<typeof createMetrics>, 'begin' | 'end'>,
  logRequest: (context: RequestContext) => void,
): Effects['observer'] => ({
  begin: metrics.begin,
  end(context) {
    metrics.end(context)
    logRequest(context)
  },
})

/**
 * Returns options of an app that has these effects, except while `warmUp` runs. It must be the same app: V8 specializes code
 * to the closures and classes of one Fastify instance, and drops that code when those of another arrive.
 */
export function rehearsable(effects: Effects) {
  let { verifyToken, observer, shed, draining } = effects
  // Handlers read the members of this object at each call, whichever operations it has.
  const store = { ...effects.store }
  const use = (others: Effects) => {
    Object.assign(store, others.store)
    ;({ verifyToken, observer, shed, draining } = others)
  }
  const options: Effects = {
    store,
    verifyToken: (token, mayCost) => verifyToken(token, mayCost),
    observer: { begin: (context) => observer.begin(context), end: (context) => observer.end(context) },
    shed: (reason) => shed(reason),
    draining: () => draining(),
  }

  /**
   * Sends example requests to the app, which must not listen yet, for `time` milliseconds at most, so that V8 compiles the
   * code that answers them. They keep, log and count nothing: plants go to the rehearsal of the store, or to a memory store.
   */
  async function warmUp(app: FastifyInstance, routes: Routes, real: Pick<PlantStore, 'rehearsal'>, time = 2_000) {
    const end = performance.now() + time
    const rehearsal = await real.rehearsal?.()
    const token = newToken()
    const metrics = createMetrics(routes.info)
    use({
      store: rehearsal ?? (await openStore('memory:')),
      verifyToken: listVerifier([token], requiredScopes(routes.operations)),
      observer: observe(metrics, requestLog(pino({}, nowhere), nowhere)),
      shed: metrics.shed,
      draining: () => false,
    })
    try {
      await app.ready()
      // An HTTP server accepts sockets with the options of the app's: V8 would not optimize for others.
      const listener = createServer().removeAllListeners('connection')
      const closed: Promise<unknown>[] = []
      listener.on('connection', (socket) => {
        closed.push(new Promise((resolve) => socket.once('close', resolve)))
        app.server.emit('connection', socket)
      })
      await once(listener.listen(0, '127.0.0.1'), 'listening')
      const { port } = listener.address() as AddressInfo
      await Promise.allSettled(Array.from({ length: lanes }, () => send(port, warmUpRequests(token), end)))
      listener.close()
      // A server closes before its sockets. The last requests end with these, and must not be counted.
      await Promise.all(closed)
    } finally {
      use(effects)
      metrics.close()
    }
  }
  return { options, warmUp }
}

/** Sends requests one after the other, on one connection after the other, until all are answered or the end is reached. */
async function send(port: number, texts: string[], end: number): Promise<void> {
  for (let connection = 0; connection < successors && performance.now() < end; connection++) {
    const socket = connect(port, '127.0.0.1')
    let sent = 0
    const next = () => {
      if (sent === requests || performance.now() >= end) socket.end()
      else socket.write(texts[sent++ % texts.length] as string)
    }
    // An answer that arrives in pieces counts several times, which does no harm.
    socket.on('connect', next).on('data', next)
    const late = setTimeout(() => socket.destroy(), end - performance.now())
    await once(socket, 'close')
    clearTimeout(late)
  }
}
