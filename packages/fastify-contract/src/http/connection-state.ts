import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Observer } from './request-context.ts'
import type { WriteError } from './serialized-error.ts'

/** The state of an open connection. */
export type Connection = {
  /** The two latest responses: with pipelining, `latest` may wait for `previous`. */
  previous: ServerResponse | undefined
  latest: ServerResponse | undefined
  /** The responses that are not completely sent yet. */
  pending: ServerResponse[]
  /** Whether the connection gets an error response and is closed once all pending responses are sent. */
  refused: boolean
  /** The value of socket.bytesRead at which the next head begins; NaN if unknown. */
  headStart: number
  /** The value of socket.bytesRead when the latest head was complete. */
  headEnd: number
  observer: Observer
  writeError: WriteError
}

const key = Symbol('connection')

export type TrackedSocket = Socket & { [key]?: Connection }

/** Returns the state of a tracked connection. */
export const connectionOf = (socket: TrackedSocket): Connection => socket[key] as Connection

/** Starts tracking a connection. `writeError` creates the body of error responses outside of a request. */
export function beginConnection(socket: TrackedSocket, observer: Observer, writeError: WriteError): Connection {
  const none = { previous: undefined, latest: undefined, pending: [], refused: false }
  socket[key] = { ...none, headStart: 0, headEnd: 0, observer, writeError }
  return socket[key]
}

/**
 * Returns whether an earlier response closes the connection, so that this request is ignored (RFC 9112 section 9.6).
 */
export const followsLastResponse = ({ socket }: IncomingMessage & { socket: TrackedSocket }): boolean =>
  socket[key]?.previous?.shouldKeepAlive === false || socket[key]?.refused === true
