import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Returns whether the close of the connection ends the body of a response whose head was sent, as with HTTP/1.0 (RFC
 * 9112 section 6.3).
 */
const endsByClose = (response: ServerResponse): boolean =>
  response.headersSent &&
  !response.writableFinished &&
  !response.chunkedEncoding &&
  !response.hasHeader('content-length') &&
  response.req.method !== 'HEAD'

/** Milliseconds. Clients that use libuv see a regular close if a reset arrives together with the bytes before it. */
const resetDelay = 50

/** Resets a TCP connection. A Unix socket has no resets. */
function reset(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy()
  else socket.resetAndDestroy()
}

/**
 * A response that looks broken if it is destroyed midway. If the close of the connection ends its body, a regular close
 * would make the part that was sent look complete, so the connection is reset.
 */
export class ResettingResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  override destroy(error?: Error): this {
    if (this.req.socket.destroyed || !endsByClose(this)) return super.destroy(error)
    const resetLater = (socket: Socket) => void setTimeout(reset, resetDelay, socket)
    // With pipelining, the response may still wait for its socket.
    if (this.socket === null) this.once('socket', resetLater)
    else resetLater(this.socket)
    return this
  }
}

/** Destroys a connection so that its first response looks broken if it is not completely sent. */
export function abortConnection(socket: Socket, [first]: readonly ServerResponse[]): void {
  if (first !== undefined && endsByClose(first)) reset(socket)
  else socket.destroy()
}
