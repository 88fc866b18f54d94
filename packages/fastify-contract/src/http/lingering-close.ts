import { Socket } from 'node:net'

/** The fixed bounds on the connections that are read on after their last response, in milliseconds. */
export const fixedBounds = {
  /** Time without a byte, if the request is incomplete. */
  silence: 5_000,
  /** Time without a byte, if the client has no reason to send more. */
  idle: 1_000,
  /** Time left once the server closes. */
  closingTime: 1_000,
}

/** All bounds on these connections. */
export type LingerBounds = Partial<typeof fixedBounds> & {
  /** Bytes that are read from one connection. */
  bytes: number
  /** Milliseconds after the last response. */
  time: number
}

/** Closes connections after their last response. */
export type LingeringClose = ReturnType<typeof lingeringClose>

/**
 * Closes connections so that their clients get the last response, even while they still send a request: ends the
 * writing side, then reads and discards what arrives, until the client closes or a bound is reached (RFC 9112 section
 * 9.6). If a socket with unread bytes were closed at once, the kernel would reset the connection, and the client could
 * lose the response. Of more than `maxOpen()` such connections, the oldest is closed.
 */
export function lingeringClose(maxOpen: () => number, given: LingerBounds) {
  const bounds = { ...fixedBounds, ...given }
  const open = new Set<Socket>()
  let { time } = bounds

  function linger(socket: Socket, isUnread: () => boolean): void {
    if (open.has(socket)) return
    if (socket.readableEnded || socket.destroyed) {
      Socket.prototype.destroySoon.call(socket)
      return
    }
    const [oldest] = open
    if (oldest !== undefined && open.size >= maxOpen()) {
      oldest.destroy()
      // Its close event comes in a later turn; until then, it would be chosen again.
      open.delete(oldest)
    }
    open.add(socket)
    const end = socket.bytesRead + bounds.bytes
    const timer = setTimeout(() => socket.destroy(), time).unref()
    // The first data listener makes Node.js detach its HTTP parser from the connection. The parser would create an object
    // for each further request. Its own listeners are removed then.
    const discard = () => {
      if (socket.bytesRead > end) socket.destroy()
    }
    socket.on('data', discard)
    for (const event of ['data', 'end', 'timeout']) socket.removeAllListeners(event)
    socket.on('data', discard)
    socket.once('end', () => Socket.prototype.destroySoon.call(socket))
    socket.once('close', () => {
      clearTimeout(timer)
      open.delete(socket)
    })
    socket.on('timeout', () => socket.destroy())
    // By the next turn Node.js has parsed all bytes that it has read.
    setImmediate(() => socket.setTimeout(isUnread() ? bounds.silence : bounds.idle))
    socket.end()
    // Ends the read that the parser has begun; otherwise a paused socket would never read again.
    socket.push('')
    socket.resume()
  }

  return {
    /** Ends the writing side of a connection, and closes it when the client does. `isUnread` is as in `watch`. */
    linger,
    /**
     * Makes Node.js close a connection in this way after its last response, if `isUnread` returns that the client may
     * still send.
     */
    watch(socket: Socket, isUnread: () => boolean): void {
      socket.destroySoon = () => {
        if (isUnread()) linger(socket, isUnread)
        else Socket.prototype.destroySoon.call(socket)
      }
    },
    /** Leaves little time to the connections that linger now or later, since the server closes. */
    hurry(): void {
      time = Math.min(bounds.time, bounds.closingTime)
      for (const socket of open) setTimeout(() => socket.destroy(), time).unref()
    },
  }
}
