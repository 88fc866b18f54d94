import { type IncomingMessage, maxHeaderSize, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { rejectConnection } from './client-error-response.ts'
import { beginConnection, connectionOf, followsLastResponse } from './connection-state.ts'
import { ContractError } from './errors.ts'
import { headersTooLarge, isTooLarge, noteEnd, noteHead, noteIdle } from './header-limit.ts'
import { isAllRead } from './read-body.ts'
import { contextOf, type Observer, recordEnd } from './request-context.ts'
import type { WriteError } from './serialized-error.ts'
import { endConnections, stopListening } from './stop-listening.ts'

/** Observer that ignores every event. */
const unobserved: Observer = { begin() {}, end() {} }

/** The options of trackConnections. */
export type Tracking = {
  observer?: Observer | undefined
  /** Returns whether each response must close its connection. */
  draining?: (() => boolean) | undefined
  /** Maximum size of a header section in bytes. */
  headersLimit?: number | undefined
  /** Milliseconds for which idle connections are still served after the listener closed; default 0. */
  linger?: number | undefined
}

/** Milliseconds between checks for incomplete heads and trailer sections that are too large. */
const interval = 250

/**
 * Tracks connections, so that observers see every request, errors outside of a request get a response, and shutdown can
 * close the connections.
 */
export function trackConnections(
  app: FastifyInstance,
  writeError: WriteError,
  { observer = unobserved, draining = () => false, headersLimit = maxHeaderSize, linger = 0 }: Tracking,
): void {
  const sockets = new Set<Socket>()
  let closesAfterResponse = draining
  const finish = (response: ServerResponse) => {
    const context = contextOf(response.req)
    recordEnd(context, response.headersSent ? response.statusCode : undefined)
    observer.end(context)
  }
  function onResponseClose(this: ServerResponse): void {
    const connection = connectionOf(this.req.socket)
    const at = connection.pending.indexOf(this)
    if (at === -1) return
    connection.pending.splice(at, 1)
    // No longer needed; a reference would keep the response in memory while the connection is idle.
    if (connection.latest === this && this.shouldKeepAlive && isAllRead(this.req)) connection.latest = undefined
    if (isAllRead(this.req)) noteEnd(this.req, connection)
    finish(this)
  }
  app.server.on('connection', (socket: Socket) => {
    const { pending } = beginConnection(socket, observer, writeError)
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      // Node.js emits no close event for a response that waits behind another one.
      for (const response of pending.splice(0)) {
        finish(response)
        response.destroy().emit('close')
      }
    })
  })
  // Before Fastify's listener, which may respond synchronously.
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connectionOf(request.socket)
    noteHead(request, connection, headersLimit)
    connection.previous = connection.latest
    connection.latest = response
    // Node.js drops bytes that follow an upgrade request in the same segment, so the next parse may start inside a
    // body: the connection must not be reused.
    if (closesAfterResponse() || request.headers.upgrade !== undefined || followsLastResponse(request))
      response.shouldKeepAlive = false
    connection.pending.push(response)
    observer.begin(contextOf(request))
    response.on('close', onResponseClose)
  })
  const bodyLimit = app.initialConfig.bodyLimit as number
  const timer = setInterval(() => {
    for (const socket of sockets) {
      const connection = connectionOf(socket)
      noteIdle(socket, connection)
      if (isTooLarge(socket, connection, headersLimit, bodyLimit)) rejectConnection(headersTooLarge(), socket)
    }
  }, interval).unref()
  app.addHook('onClose', async () => clearInterval(timer))
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node.js detaches the socket of a CONNECT request, so its errors and timeouts must be handled here.
    for (const event of ['error', 'timeout']) socket.on(event, () => socket.destroy())
    // CONNECT requests a tunnel (RFC 9110 section 9.3.6), which no path of a contract offers.
    rejectConnection(new ContractError('noSuchMethod', 'CONNECT is not supported', { allow: '' }), socket)
  })
  app.addHook('preClose', async () => {
    closesAfterResponse = () => true
    for (const socket of sockets) {
      const { latest } = connectionOf(socket)
      if (latest !== undefined) latest.shouldKeepAlive = false
    }
    await stopListening(app.server)
    await endConnections(app.server, sockets, linger)
  })
}
