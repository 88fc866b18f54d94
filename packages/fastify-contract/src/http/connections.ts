import {
  Server as HttpServer,
  type IncomingMessage,
  maxHeaderSize,
  type OutgoingHttpHeaders,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { Server, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { ContractError } from '../contract/errors.ts'
import {
  beginConnection,
  type Connection,
  connectionOf,
  followsLastResponse,
  headersTooLarge,
  isTooLarge,
  noteEnd,
  noteHead,
  noteIdle,
} from './connection-state.ts'
import { toContractError } from './error-responses.ts'
import { type LingerBounds, lingeringClose } from './lingering-close.ts'
import { listenLocally } from './local-listener.ts'
import { safeObserver } from './observe-requests.ts'
import { isAllRead } from './read-body.ts'
import {
  contextOf,
  newContext,
  type Observer,
  type RequestContext,
  recordAddress,
  recordEnd,
  recordRejection,
  type WriteError,
} from './request-context.ts'
import { abortConnection } from './resetting-response.ts'

/** The options of trackConnections. */
export type Tracking = {
  observer?: Observer | undefined
  /** Returns whether each response must close its connection. */
  draining?: (() => boolean) | undefined
  /** Maximum size of a header section in bytes. */
  headersLimit?: number | undefined
  /** The bounds on a connection that is read on after its last response. */
  linger: LingerBounds
  /** Milliseconds for which idle connections are still served after the listener closed; default 0. */
  keepAliveGrace?: number | undefined
  /** Milliseconds without traffic after which a connection with pending responses is closed; default 0: never. */
  silence?: number | undefined
}

/**
 * Milliseconds between checks for incomplete heads and trailer sections that are too large: while a request is incomplete
 * or has no response yet, and while connections are open without one.
 */
const interval = 250
const idleInterval = 1_000

/**
 * The number of connections without a request that one check looks at, so that thousands of them cost little. With more,
 * each waits for further checks; Node.js itself limits the time and the names and values of an incomplete head.
 */
const maxIdleChecks = 1_000

/** Destroys a connection so that a response that is not completely sent looks broken. */
const abort = (socket: Socket) => abortConnection(socket, connectionOf(socket).pending)

/** The share of all connections that may be read on after their last response. */
const lingeringShare = 0.1

/** Returns whether the client of a connection whose last response was sent may still send a request. */
const isUnread = ({ latest }: Connection): boolean =>
  latest !== undefined && !(latest.writableFinished && isAllRead(latest.req))

/**
 * Tracks connections, so that observers see every request, errors outside of a request get a response, and shutdown can
 * close the connections.
 */
export function trackConnections(
  app: FastifyInstance,
  writeError: WriteError,
  {
    observer: given,
    draining = () => false,
    headersLimit = maxHeaderSize,
    linger,
    keepAliveGrace = 0,
    silence = 0,
  }: Tracking,
): void {
  const observer = safeObserver(app, given)
  const sockets = new Set<Socket>()
  /** The connections on which something has arrived whose request is incomplete or has no response yet. */
  const busy = new Set<Socket>()
  const lingering = lingeringClose(() => Math.ceil(app.server.maxConnections * lingeringShare), linger)
  const local = listenLocally(app)
  let closesAfterResponse = draining
  const finish = (response: ServerResponse) => {
    const context = contextOf(response.req)
    recordEnd(context, response.headersSent ? response.statusCode : undefined)
    observer.end(context)
  }
  function onResponseClose(this: ServerResponse): void {
    const connection = connectionOf(this.req.socket)
    const at = connection.pending.indexOf(this)
    // The socket has closed before, which has finished every response.
    if (at === -1) return
    connection.pending.splice(at, 1)
    if (isAllRead(this.req)) {
      // A reference would keep the response in memory while the connection is idle. But a response that closes the
      // connection is kept: `followsLastResponse` needs it.
      if (connection.latest === this && this.shouldKeepAlive) connection.latest = undefined
      noteEnd(this.req, connection)
    }
    finish(this)
  }
  app.server.on('connection', function track(socket: Socket) {
    if (local.isFull(sockets.size)) {
      socket.destroy()
      app.server.emit('drop')
      return
    }
    const connection = beginConnection(socket, { observer, writeError, lingering })
    const { pending } = connection
    sockets.add(socket)
    busy.add(socket)
    checkSoon()
    lingering.watch(socket, () => isUnread(connection))
    socket.once('close', function finishPending() {
      sockets.delete(socket)
      busy.delete(socket)
      // Node.js emits no close event for a response that waits behind another one.
      for (const response of pending.splice(0)) {
        finish(response)
        response.destroy().emit('close')
      }
    })
  })
  // Before Fastify's listener, which may respond synchronously.
  app.server.prependListener('request', function trackRequest(request: IncomingMessage, response: ServerResponse) {
    const connection = connectionOf(request.socket)
    noteHead(request, connection, headersLimit)
    connection.previous = connection.latest
    connection.latest = response
    // Node.js drops bytes that follow an upgrade request in the same segment, so the next parse may start inside a
    // body: the connection must not be reused.
    if (closesAfterResponse() || request.headers.upgrade !== undefined || followsLastResponse(request))
      response.shouldKeepAlive = false
    connection.pending.push(response)
    busy.add(request.socket)
    checkSoon()
    observer.begin(contextOf(request))
    response.on('close', onResponseClose)
  })
  const bodyLimit = app.initialConfig.bodyLimit as number
  let timer: NodeJS.Timeout | undefined
  let isChecked = false
  let idleCheckAt = 0
  let idle = sockets.values()
  // A timer that always runs would wake an idle process.
  function checkSoon(): void {
    if (isChecked) return
    isChecked = true
    clearTimeout(timer)
    timer = setTimeout(checkSockets, interval).unref()
  }
  function checkSockets(): void {
    isChecked = false
    if (sockets.size > 0) timer = setTimeout(checkSockets, idleInterval).unref()
    // V8 keeps the deleted members of a set until its iterator advances.
    else idle = sockets.values()
    for (const socket of busy) checkSocket(socket)
    const now = performance.now()
    if (now < idleCheckAt) return
    idleCheckAt = now + idleInterval - interval / 2
    for (let left = Math.min(sockets.size, maxIdleChecks); left > 0; left--) checkSocket(nextSocket())
  }
  /** Returns the sockets in turn. There is at least one. */
  function nextSocket(): Socket {
    const { value } = idle.next()
    if (value !== undefined) return value
    idle = sockets.values()
    return idle.next().value as Socket
  }
  function checkSocket(socket: Socket): void {
    const connection = connectionOf(socket)
    if (noteIdle(socket, connection)) busy.delete(socket)
    else {
      busy.add(socket)
      checkSoon()
    }
    // Not set for each request: a timer costs 1 us, and most requests have their response before this check.
    if (connection.pending.length > 0 && !socket.timeout) socket.setTimeout(silence)
    // What arrives after the last response is discarded.
    if (socket.writable && isTooLarge(socket, connection, headersLimit, bodyLimit))
      rejectConnection(headersTooLarge(), socket)
  }
  app.server.on('timeout', abort)
  app.server.on('connect', function rejectTunnel(_request: IncomingMessage, socket: Socket) {
    // Node.js detaches the socket of a CONNECT request, so its errors and timeouts must be handled here.
    for (const event of ['error', 'timeout']) socket.on(event, () => socket.destroy())
    // CONNECT requests a tunnel (RFC 9110 section 9.3.6), which no path of a contract offers.
    rejectConnection(new ContractError('noSuchMethod', 'CONNECT is not supported', { allow: '' }), socket)
  })
  app.addHook('preClose', function closeAfterResponses(done) {
    closesAfterResponse = () => true
    lingering.hurry()
    for (const socket of sockets) {
      const { latest } = connectionOf(socket)
      if (latest !== undefined) latest.shouldKeepAlive = false
    }
    done()
  })
  // Fastify fails when a preClose hook takes longer than pluginTimeout, 10 s by default, but it waits for the server.
  app.server.close = function close(callback) {
    closeGracefully([app.server, ...local.servers], sockets, keepAliveGrace).then(() => callback?.())
    return app.server
  }
}

/** Stops a server and its further listeners from listening, and resolves when all connections are closed. */
async function closeGracefully(
  [server, ...others]: [HttpServer, ...Server[]],
  sockets: ReadonlySet<Socket>,
  keepAliveGrace: number,
) {
  // When the process exits, the kernel would close the connections regularly.
  const abortAll = () => sockets.forEach(abort)
  process.once('exit', abortAll)
  await Promise.all([server, ...others].map(stopListening))
  await endConnections(server, sockets, keepAliveGrace)
  process.off('exit', abortAll)
  // Also ends the timer of Node.js that checks the request timeouts.
  HttpServer.prototype.close.call(server)
}

/**
 * Sends an error response without Fastify, for bytes that the HTTP parser or this service rejects outside of a route,
 * and closes the connection. The error response is sent after all pending responses of the connection.
 */
export function rejectConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const connection = connectionOf(socket)
  const { previous, latest, observer } = connection
  // The parser reports an error for all further bytes too; only the first error gets a response.
  if (connection.refused) return
  connection.refused = true
  // The bytes belong to the latest request if it is incomplete, else to a new one.
  const incomplete = latest?.req.complete === false ? latest : undefined
  // The request has a response already, or an earlier response closes the connection.
  const isTooLate = incomplete ? incomplete.headersSent : latest?.shouldKeepAlive === false
  const responseBefore = incomplete === undefined || isTooLate ? latest : previous
  const hangUp = () => {
    if (isTooLate) connection.lingering.linger(socket, () => isUnread(connection))
    else if (incomplete !== undefined) sendError(socket, error, contextOf(incomplete.req), incomplete.getHeaders())
    else {
      const context = newContext('')
      observer.begin(context)
      sendError(socket, error, context)
      observer.end(context)
    }
  }
  if (responseBefore === undefined || responseBefore.writableFinished) hangUp()
  else responseBefore.once('close', hangUp)
}

/** Sends the error response and closes the connection. `given` are the headers already set on the response. */
function sendError(socket: Socket, thrown: unknown, context: RequestContext, given: OutgoingHttpHeaders = {}): void {
  const error = toContractError(thrown)
  const { kind, statusCode, headers } = error
  const connection = connectionOf(socket)
  const { number, contentType, text } = connection.writeError(error, context)
  recordAddress(context, socket.remoteAddress)
  recordRejection(context, kind, number)
  recordEnd(context, statusCode)
  const head = {
    ...given,
    ...headers,
    'x-request-id': context.id,
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    date: new Date().toUTCString(),
    connection: 'close',
  }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n${text}`)
  connection.lingering.linger(socket, () => isUnread(connection))
}

/** A turn of the event loop counts as idle below this many milliseconds. The bound doubles every 50 turns. */
const idleTurn = 0.03
const turnsUntilDoubled = 50

/** Turns after which the listener closes even if every turn accepted a connection. */
const maxTurns = 400

/** Milliseconds between checks for idle connections. */
const idleCheckInterval = 10

/**
 * Stops a server from listening without closing its open connections. When the listener closes, the kernel resets the
 * connections that wait to be accepted, and libuv accepts one connection in each turn of the event loop. This function
 * therefore closes right after an idle turn that accepted none: then no connection waits. The bound for an idle turn
 * grows, because a busy process never meets the first one. The function counts turns instead of time: a process that
 * gets no CPU time must not close while connections wait.
 */
export async function stopListening(server: Server): Promise<void> {
  let accepted = false
  const noteAccepted = () => {
    accepted = true
  }
  server.on('connection', noteAccepted).on('drop', noteAccepted)
  // Warms up close(): its first call takes 0.2 ms to compile.
  new Server().close()
  let isIdle = false
  for (let turn = 0; !isIdle && turn < maxTurns; turn++) {
    // The scheduler rarely preempts a process that has just slept.
    await sleep(1)
    accepted = false
    const began = performance.now()
    await nextTurn()
    isIdle = !accepted && performance.now() - began < idleTurn * 2 ** (turn / turnsUntilDoubled)
  }
  // The close of net.Server: that of http.Server would also destroy idle connections and stop enforcing request
  // timeouts, so a slow request would outlive the shutdown. This relies on http.Server extending net.Server; otherwise
  // the listener stays open, and the tests of graceful shutdown fail.
  Server.prototype.close.call(server)
  server.off('connection', noteAccepted).off('drop', noteAccepted)
}

/**
 * Closes the connections of a server that no longer listens as they become idle; resolves once all are closed. For the
 * first `keepAliveGrace` milliseconds idle connections stay open, and requests on them are still served.
 */
export async function endConnections(
  server: HttpServer,
  sockets: ReadonlySet<Socket>,
  keepAliveGrace: number,
): Promise<void> {
  const graceUntil = performance.now() + keepAliveGrace
  while (sockets.size > 0) {
    await sleep(idleCheckInterval)
    if (performance.now() < graceUntil) continue
    // Lets the server read requests that have already arrived.
    await nextTurn()
    // Node.js counts only connections between two requests as idle; those that have not sent a byte are idle too.
    server.closeIdleConnections()
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
}
