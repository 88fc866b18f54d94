import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { AppOptions } from '../../../../src/app.ts'
import { warmUpRequests } from '../../../../src/example-request.ts'
import { openStore, type PlantOperations, type PlantStore } from '../../../../src/store/open.ts'
import { listVerifier, newToken } from '../auth/tokens.ts'
import type { RequestContext } from '../http/request-context.ts'
import { rateLimit } from '../limits/rate-limit.ts'
import type { Routes } from '../serve/routes.ts'
import { requiredScopes } from '../serve/security.ts'
import { requestLog } from './log.ts'
import { createMetrics } from './metrics.ts'

const nowhere = { write() {} }

/** The numbers of parallel lanes, of successive connections in a lane, and of requests on a connection. */
const [lanes, successors, requests] = [16, 25, 20]

/** The dependencies through which the requests of an app have effects outside of it. */
export type Effects = Required<
  Pick<AppOptions, 'store' | 'verifyToken' | 'requestLimit' | 'observer' | 'shed' | 'draining'>
>

/** Returns an observer that counts and logs each request. */
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
 * Returns options for an app that has these effects, except while `warmUp` runs. The warm-up needs the app that serves
 * later: V8 specializes code for the closures and classes of one Fastify instance, and discards this code when it meets
 * those of another instance.
 */
export function withWarmUp(effects: Effects) {
  let { verifyToken, requestLimit, observer, shed, draining } = effects
  // Handlers look up the operations of this object at each call, so that `use` can replace them.
  const store = { ...effects.store }
  const use = (others: Effects) => {
    Object.assign(store, others.store)
    ;({ verifyToken, requestLimit, observer, shed, draining } = others)
  }
  const options: Effects = {
    store,
    verifyToken: (token, mayCost) => verifyToken(token, mayCost),
    requestLimit: { take: (client) => requestLimit.take(client) },
    observer: { begin: (context) => observer.begin(context), end: (context) => observer.end(context) },
    shed: (reason) => shed(reason),
    draining: () => draining(),
  }

  /**
   * Sends example requests to the app for at most `time` milliseconds, so that V8 compiles the code that serves them.
   * The app must not be listening yet. Nothing is stored, logged or counted: plants go to the rehearsal operations of
   * the store, or to a memory store if it has none.
   */
  async function warmUp(app: FastifyInstance, routes: Routes, real: Pick<PlantStore, 'rehearsal'>, time = 2_000) {
    const end = performance.now() + time
    const deadline = startDeadline(time)
    const { log } = app
    const metrics = createMetrics(routes.info)
    try {
      const rehearsal = (await deadline.bound(real.rehearsal?.())) ?? (await openStore('memory:'))
      const token = newToken()
      use({
        store: rehearsedOperations(effects.store, rehearsal, deadline.bound),
        verifyToken: listVerifier([token], requiredScopes(routes.operations)),
        requestLimit: rateLimit(Number.POSITIVE_INFINITY),
        observer: observe(metrics, requestLog(pino({}, nowhere), nowhere)),
        shed: metrics.shed,
        draining: () => false,
      })
      app.log = pino({}, nowhere)
      await app.ready()
      // Not a net.Server: its sockets would have other options than those of the app's server, and V8 would optimize
      // for them.
      const listener = createServer().removeAllListeners('connection')
      const closed = new Map<Socket, Promise<unknown>>()
      // Another process may connect too. The app gets only connections whose other end is in this process: those of
      // other processes could spend the limit of authentication failures of this address.
      const accept = pairEnds((socket) => app.server.emit('connection', socket))
      listener.on('connection', (socket) => {
        closed.set(socket, new Promise((resolve) => socket.once('close', resolve)))
        accept.server(socket)
      })
      await once(listener.listen(0, '127.0.0.1'), 'listening')
      const { port } = listener.address() as AddressInfo
      await Promise.allSettled(
        Array.from({ length: lanes }, () => send(port, warmUpRequests(token), end, accept.client)),
      )
      listener.close()
      // Another process may keep its connection open.
      for (const socket of closed.keys()) socket.destroy()
      // The last requests end when their sockets close, which may be after the listener. Until then, the service's own
      // metrics must not be in use.
      await Promise.all(closed.values())
    } finally {
      deadline.end()
      use(effects)
      app.log = log
      metrics.close()
    }
  }
  return { options, warmUp }
}

/** Calls `serve` with the server's end of a connection once both ends are known, in either order. */
function pairEnds(serve: (socket: Socket) => void) {
  const servers = new Map<number, Socket>()
  const clients = new Set<number>()
  const pair = (port: number) => {
    const socket = servers.get(port)
    if (socket === undefined || !clients.delete(port)) return
    servers.delete(port)
    serve(socket)
  }
  return {
    server(socket: Socket) {
      const port = socket.remotePort as number
      servers.set(port, socket)
      pair(port)
    },
    client({ localPort }: Socket) {
      const port = localPort as number
      clients.add(port)
      pair(port)
    },
  }
}

/**
 * Sends requests one at a time, on one connection at a time, until all are sent or the time `end` is reached. Calls
 * `connected` for each connection.
 */
async function send(port: number, texts: string[], end: number, connected: (socket: Socket) => void): Promise<void> {
  for (let connection = 0; connection < successors && performance.now() < end; connection++) {
    const socket = connect(port, '127.0.0.1')
    let sent = 0
    const next = () => {
      if (sent === requests || performance.now() >= end) socket.end()
      else socket.write(texts[sent++ % texts.length] as string)
    }
    // A response in several chunks triggers several requests, which does no harm.
    socket
      .on('connect', () => {
        connected(socket)
        next()
      })
      .on('data', next)
    const late = setTimeout(() => socket.destroy(), end - performance.now())
    await once(socket, 'close')
    clearTimeout(late)
  }
}

/** Passes a value or promise on, but rejects once the deadline has passed. */
type Bound = <Value>(value: Value | Promise<Value>) => Promise<Value>

/** Starts a deadline, `time` milliseconds from now or at the call of `end` if that is earlier. */
export function startDeadline(time: number): { bound: Bound; end(): void } {
  let pass!: () => void
  const passed = new Promise<never>((_, reject) => {
    pass = () => reject(new Error(`the rehearsal of the store did not settle within ${time} ms`))
  })
  passed.catch(() => {})
  const timer = setTimeout(() => pass(), time)
  return {
    bound: (value) => Promise.race([value, passed]),
    end() {
      clearTimeout(timer)
      pass()
    },
  }
}

/** An operation of any document. */
type Operation = (input: unknown) => Promise<unknown>

/**
 * Returns an operation of the rehearsal for each of the store's own: a rehearsal that lacks or inherits an operation
 * must not leave the store's own in use. `bound` ends operations that do not settle, which would otherwise count as
 * running handlers forever.
 */
export function rehearsedOperations(own: PlantOperations, rehearsal: PlantOperations, bound: Bound): PlantOperations {
  const operations = Object.keys(own).map((name) => {
    const call = async (input: unknown) => {
      const operation = rehearsal[name as keyof PlantOperations] as Operation
      return await bound(Reflect.apply(operation, rehearsal, [input]))
    }
    return [name, call]
  })
  return Object.fromEntries(operations) as PlantOperations
}
