import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { listVerifier, newToken, type VerifyToken } from '../auth/tokens.ts'
import type { RequestContext } from '../http/request-context.ts'
import { rateLimit } from '../limits/limits.ts'
import type { Routes } from '../serve/contract.ts'
import type { ServerOptions } from '../serve/create-server.ts'
import { requiredScopes } from '../serve/security.ts'
import { requestLog } from './log.ts'
import { createMetrics } from './metrics.ts'

const nowhere = { write() {} }

/** The numbers of parallel lanes, of successive connections in a lane, and of requests on a connection. */
const [lanes, successors, requests] = [16, 25, 20]

/** The parts of a service through which requests have effects outside of the server. */
export type Effects = { verifyToken: VerifyToken } & Required<
  Pick<ServerOptions<unknown>, 'requestLimit' | 'observer' | 'shed' | 'draining'>
>

/** Passes a value or promise on, but rejects once the deadline of the warm-up has passed. */
export type Bound = <Value>(value: Value | Promise<Value>) => Promise<Value>

/** What an application does for the warm-up. */
export type Rehearsal = {
  /** Returns the texts of HTTP requests that are authenticated with a token. Their handlers really run. */
  requests(token: string): string[]
  /**
   * Replaces everything that handlers change by something that keeps nothing. Resolves with the function that undoes
   * the replacement. An operation that does not settle must be passed through `bound`, since it would otherwise count as
   * a running handler forever.
   */
  begin(bound: Bound): Promise<() => void>
}

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
 * Returns the same effects for a server, except while `warmUp` runs. The warm-up needs the server that serves later: V8
 * specializes code for the closures and classes of one Fastify instance, and discards this code when it meets those of
 * another instance.
 */
export function withWarmUp(own: Effects) {
  let { verifyToken, requestLimit, observer, shed, draining } = own
  const use = (others: Effects) => {
    ;({ verifyToken, requestLimit, observer, shed, draining } = others)
  }
  const effects: Effects = {
    verifyToken: (token, withinFailureLimit) => verifyToken(token, withinFailureLimit),
    requestLimit: {
      take: (client) => requestLimit.take(client),
      fields: (client) => requestLimit.fields?.(client),
    },
    observer: { begin: (context) => observer.begin(context), end: (context) => observer.end(context) },
    shed: (reason) => shed(reason),
    draining: () => draining(),
  }

  /**
   * Sends the requests of the rehearsal to the server for at most `time` milliseconds, so that V8 compiles the code that
   * serves them. The server must not be listening yet. Nothing is stored, logged or counted.
   */
  async function warmUp(app: FastifyInstance, routes: Routes, rehearsal: Rehearsal, time = 2_000) {
    const end = performance.now() + time
    const deadline = startDeadline(time)
    const metrics = createMetrics(routes.info, 'warm_up')
    let undo = () => {}
    try {
      undo = await deadline.bound(rehearsal.begin(deadline.bound))
      const token = newToken()
      use({
        verifyToken: listVerifier([token], requiredScopes(routes.operations)),
        requestLimit: rateLimit(Number.POSITIVE_INFINITY),
        observer: observe(metrics, requestLog(pino({}, nowhere), nowhere)),
        shed: metrics.shed,
        draining: () => false,
      })
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
        Array.from({ length: lanes }, () => send(port, rehearsal.requests(token), end, accept.client)),
      )
      listener.close()
      // Another process may keep its connection open.
      for (const socket of closed.keys()) socket.destroy()
      // The last requests end when their sockets close, which may be after the listener. Until then, the service's own
      // metrics must not be in use.
      await Promise.all(closed.values())
    } finally {
      deadline.end()
      undo()
      use(own)
      metrics.close()
    }
  }
  return { effects, warmUp }
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

/** Starts a deadline, `time` milliseconds from now or at the call of `end` if that is earlier. */
export function startDeadline(time: number): { bound: Bound; end(): void } {
  let pass!: () => void
  const passed = new Promise<never>((_, reject) => {
    pass = () => reject(new Error(`the rehearsal did not settle within ${time} ms`))
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
