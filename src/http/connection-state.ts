import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Observer } from './request-context.ts'

/** The state of an open connection. */
export type Connection = {
  /** The two latest answers that still matter: with pipelining one may wait for the other. */
  previous: ServerResponse | undefined
  latest: ServerResponse | undefined
  /** Those that have not left. */
  owed: ServerResponse[]
  /** Whether it is to be refused once nothing else is owed. */
  refused: boolean
  observer: Observer
}

const key = Symbol('connection')

export type TrackedSocket = Socket & { [key]?: Connection }

/** Returns the state of a tracked connection. */
export const connectionOf = (socket: TrackedSocket): Connection => socket[key] as Connection

/** Begins to track a connection, for an observer of its requests. */
export function beginConnection(socket: TrackedSocket, observer: Observer): Connection {
  socket[key] = { previous: undefined, latest: undefined, owed: [], refused: false, observer }
  return socket[key]
}

/** Tells whether an earlier answer is the last of the connection: nothing behind it is served (RFC 9112 section 9.6). */
export const isBehindLast = ({ socket }: IncomingMessage & { socket: TrackedSocket }): boolean =>
  socket[key]?.previous?.shouldKeepAlive === false
