import type { Server as HttpServer } from 'node:http'
import { Server, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

/** A turn of the event loop counts as idle below this many milliseconds. The bound doubles every 50 turns. */
const idleTurn = 0.03
const turnsUntilDoubled = 50

/** Turns after which the listener closes even if every turn accepted a connection. */
const maxTurns = 400

/** Milliseconds between checks for idle connections. */
const interval = 10

/**
 * Stops a server from listening without closing its open connections. When the listener closes, the kernel resets the
 * connections that wait to be accepted, and libuv accepts one connection in each turn of the event loop. This function
 * therefore waits for an idle turn that accepted none, so that the close follows almost at once after libuv has polled.
 * The bound for an idle turn grows, because a busy process never meets the first one. The function counts turns instead
 * of time: a process that gets no CPU time must not close while connections wait.
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
  // http.Server.close would also destroy idle connections and stop enforcing request timeouts.
  Server.prototype.close.call(server)
  server.off('connection', noteAccepted).off('drop', noteAccepted)
}

/**
 * Closes the connections of a server that no longer listens as they become idle; resolves once all are closed. For the
 * first `linger` milliseconds idle connections stay open, and requests on them are still served.
 */
export async function endConnections(server: HttpServer, sockets: ReadonlySet<Socket>, linger: number): Promise<void> {
  const lingersUntil = performance.now() + linger
  while (sockets.size > 0) {
    await sleep(interval)
    if (performance.now() < lingersUntil) continue
    // Lets the server read requests that have already arrived.
    await nextTurn()
    // Node.js counts only connections between two requests as idle; those that have not sent a byte are idle too.
    server.closeIdleConnections()
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
}
