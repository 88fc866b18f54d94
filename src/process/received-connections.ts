import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Returns a function that serves a connection accepted by another process. Beyond the limit it closes the connection and
 * emits `drop`.
 */
export function receiveConnections(server: Server, limit: number): (socket: Socket) => void {
  let open = 0
  // Node begins to enforce the time limits of requests when a server listens.
  server.emit('listening')
  return (socket) => {
    if (open === limit) {
      server.emit('drop')
      socket.destroy()
      return
    }
    open++
    socket.once('close', () => open--)
    // As Node sets up the connections that an HTTP server accepts.
    socket.allowHalfOpen = true
    socket.setNoDelay(true)
    server.emit('connection', socket)
  }
}
