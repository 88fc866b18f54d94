import type { Server as HttpServer } from 'node:http'
import { Server, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds that a turn of the event loop must not take to count as idle; twice as many after some turns each. */
const idleTurn = 0.03
const turnsUntilDoubled = 50

/** Turns after which the listener closes even if every turn accepted a connection. */
const mostTurns = 400

/** Milliseconds between two looks for connections that are idle. */
const interval = 10

/**
 * Stops a server from listening, and leaves its open connections alone. The kernel resets connections that wait to be
 * accepted when the listener closes, and libuv accepts one connection in each turn of the event loop. This function
 * waits for a turn that accepted none and was idle, so that hardly any time passes between its poll and the close. The
 * longer it waits, the longer an idle turn may take, because a busy process has no better one. It counts turns, not time:
 * a process that gets no processor must not close with connections waiting.
 */
export async function stopListening(server: Server): Promise<void> {
  let accepted = false
  const note = () => {
    accepted = true
  }
  server.on('connection', note).on('drop', note)
  // The first close of a process has to be compiled, for 0.2 ms.
  new Server().close()
  let isIdle = false
  for (let turn = 0; !isIdle && turn < mostTurns; turn++) {
    // The scheduler seldom interrupts a process that has just slept.
    await sleep(1)
    accepted = false
    const began = performance.now()
    await nextTurn()
    isIdle = !accepted && performance.now() - began < idleTurn * 2 ** (turn / turnsUntilDoubled)
  }
  // The close of an HTTP server would also destroy idle connections, and stop the time limits of requests.
  Server.prototype.close.call(server)
  server.off('connection', note).off('drop', note)
}

/**
 * Resolves once all connections of a server that has stopped to listen are closed: idle ones are, after `linger`
 * milliseconds in which a request on them is still served.
 */
export async function endConnections(server: HttpServer, sockets: ReadonlySet<Socket>, linger: number): Promise<void> {
  const lingersUntil = performance.now() + linger
  while (sockets.size > 0) {
    await sleep(interval)
    if (performance.now() < lingersUntil) continue
    // What has arrived is read before.
    await nextTurn()
    // Node counts a connection as idle between two requests. One that has not sent a byte is idle, too.
    server.closeIdleConnections()
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
}
