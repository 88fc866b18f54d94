import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Returns a function that serves a connection that another process accepted. If `limit` connections are open, it closes
 * the new one and emits `drop`.
 */
export function receiveConnections(server: Server, limit: number): (socket: Socket) => void {
  let open = 0
  // Node.js starts to enforce request timeouts when a server listens.
  server.emit('listening')
  return (socket) => {
    if (open === limit) {
      server.emit('drop')
      socket.destroy()
      return
    }
    open++
    socket.once('close', () => open--)
    // An HTTP server sets these options on each connection that it accepts itself.
    socket.allowHalfOpen = true
    socket.setNoDelay(true)
    server.emit('connection', socket)
  }
}
