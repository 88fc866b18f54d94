import { type IncomingMessage, maxHeaderSize, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { refuseConnection } from './connection-refusal.ts'
import { beginConnection, connectionOf, isBehindLast } from './connection-state.ts'
import { ContractError } from './errors.ts'
import { isEndless, noteEnd, noteHead, noteQuiet, tooLarge } from './header-limit.ts'
import { isAllRead } from './read-body.ts'
import { contextOf, type Observer, recordEnd } from './request-context.ts'
import { endConnections, stopListening } from './stop-listening.ts'
import type { WriteError } from './written-error.ts'

/** Observer that ignores every event. */
const unobserved: Observer = { begin() {}, end() {} }

export type Tracking = {
  observer?: Observer | undefined
  /** Whether each answer is to be the last of its connection. */
  draining?: (() => boolean) | undefined
  /** Bytes of a header section. */
  headersLimit?: number | undefined
  /** Milliseconds for which idle connections are still served after the listener closed; default 0. */
  linger?: number | undefined
}

/** Milliseconds between looks at heads that have not ended. */
const interval = 250

/**
 * Tracks connections, so that observers see every request, errors outside of a request are answered, and shutdown can
 * close them.
 */
export function trackConnections(
  app: FastifyInstance,
  writeError: WriteError,
  { observer = unobserved, draining = () => false, headersLimit = maxHeaderSize, linger = 0 }: Tracking,
): void {
  const sockets = new Set<Socket>()
  let endsWithAnswer = draining
  const finish = (response: ServerResponse) => {
    const context = contextOf(response.req)
    recordEnd(context, response.headersSent ? response.statusCode : undefined)
    observer.end(context)
  }
  function left(this: ServerResponse): void {
    const connection = connectionOf(this.req.socket)
    const at = connection.owed.indexOf(this)
    if (at === -1) return
    connection.owed.splice(at, 1)
    // Nothing asks for it any more: held, it would outlive the garbage that it is.
    if (connection.latest === this && this.shouldKeepAlive && isAllRead(this.req)) connection.latest = undefined
    if (isAllRead(this.req)) noteEnd(this.req, connection)
    finish(this)
  }
  app.server.on('connection', (socket: Socket) => {
    const { owed } = beginConnection(socket, observer, writeError)
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      // Of an answer that waits behind another one Node does not say that it never leaves.
      for (const response of owed.splice(0)) {
        finish(response)
        response.destroy().emit('close')
      }
    })
  })
  // Before Fastify, which may answer at once.
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connectionOf(request.socket)
    noteHead(request, connection, headersLimit)
    connection.previous = connection.latest
    connection.latest = response
    // Node loses what came in one segment behind a request to upgrade: what is parsed next may be the middle of a body.
    if (endsWithAnswer() || request.headers.upgrade !== undefined || isBehindLast(request))
      response.shouldKeepAlive = false
    connection.owed.push(response)
    observer.begin(contextOf(request))
    response.on('close', left)
  })
  const bodyLimit = app.initialConfig.bodyLimit as number
  const looking = setInterval(() => {
    for (const socket of sockets) {
      const connection = connectionOf(socket)
      noteQuiet(socket, connection)
      if (isEndless(socket, connection, headersLimit, bodyLimit)) refuseConnection(tooLarge(), socket)
    }
  }, interval).unref()
  app.addHook('onClose', async () => clearInterval(looking))
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node leaves a tunnel to itself: without errors handled, and without a limit on its time.
    for (const event of ['error', 'timeout']) socket.on(event, () => socket.destroy())
    // RFC 9110 section 9.3.6: CONNECT asks for a tunnel, which no path of a contract is.
    refuseConnection(new ContractError('noSuchMethod', 'there are no tunnels here', { allow: '' }), socket)
  })
  app.addHook('preClose', async () => {
    endsWithAnswer = () => true
    for (const socket of sockets) {
      const { latest } = connectionOf(socket)
      if (latest !== undefined) latest.shouldKeepAlive = false
    }
    await stopListening(app.server)
    await endConnections(app.server, sockets, linger)
  })
}
