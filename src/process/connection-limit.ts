import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Closes connections beyond the limit and has the server tell of each by `drop`, as Node does in a process alone: of a
 * worker, Node gives them back to the primary process, which offers them to the next worker, for ever.
 */
export function limitConnections(server: Server, limit: number): void {
  server.maxConnections = Number.POSITIVE_INFINITY
  let open = 0
  server.prependListener('connection', (socket: Socket) => {
    open++
    socket.once('close', () => open--)
    if (open <= limit) return
    server.emit('drop')
    socket.destroy()
  })
}
