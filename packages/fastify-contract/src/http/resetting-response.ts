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

const reset = (socket: Socket) => socket.resetAndDestroy()

/**
 * A response that looks broken if it is destroyed midway. If the close of the connection ends its body, a regular close
 * would make the part that was sent look complete, so the connection is reset.
 */
export class ResettingResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  override destroy(error?: Error): this {
    if (!this.destroyed && endsByClose(this)) {
      // With pipelining, the response may still wait for its socket.
      if (this.socket === null) this.once('socket', reset)
      else reset(this.socket)
    }
    return super.destroy(error)
  }
}

/** Destroys a connection whose responses may be incomplete. */
export function abortConnection(socket: Socket, responses: readonly ServerResponse[]): void {
  if (responses[0] !== undefined && endsByClose(responses[0])) reset(socket)
  else socket.destroy()
}
