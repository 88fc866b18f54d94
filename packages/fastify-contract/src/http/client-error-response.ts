import { type OutgoingHttpHeaders, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { connectionOf } from './connection-state.ts'
import { toContractError } from './errors.ts'
import {
  contextOf,
  newContext,
  type RequestContext,
  recordAddress,
  recordEnd,
  recordRejection,
} from './request-context.ts'

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
  const own = latest?.req.complete === false ? latest : undefined
  const isAnswered = own?.headersSent ?? latest?.shouldKeepAlive === false
  // The error response must follow this one.
  const awaited = own === undefined || isAnswered ? latest : previous
  const hangUp = () => {
    if (isAnswered) socket.destroySoon()
    else if (own !== undefined) sendError(socket, error, contextOf(own.req), own.getHeaders())
    else {
      const context = newContext('')
      observer.begin(context)
      sendError(socket, error, context)
      observer.end(context)
    }
  }
  if (awaited === undefined || awaited.writableFinished) hangUp()
  else awaited.once('close', hangUp)
}

/** Sends the error response and closes the connection. `given` are the headers already set on the response. */
function sendError(socket: Socket, thrown: unknown, context: RequestContext, given: OutgoingHttpHeaders = {}): void {
  const error = toContractError(thrown)
  const { statusCode, headers } = error
  recordAddress(context, socket.remoteAddress)
  recordRejection(context, error)
  recordEnd(context, statusCode)
  const { contentType, text } = connectionOf(socket).writeError(error, context)
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
  socket.end(`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n${text}`)
  // Closing a socket with unread bytes resets the connection, and the client could lose the response: wait a second.
  setTimeout(() => socket.destroy(), 1_000).unref()
}
