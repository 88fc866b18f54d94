import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Observer } from './request-context.ts'
import type { WriteError } from './written-error.ts'

/** The state of an open connection. */
export type Connection = {
  /** The two latest answers that still matter: with pipelining one may wait for the other. */
  previous: ServerResponse | undefined
  latest: ServerResponse | undefined
  /** Those that have not left. */
  owed: ServerResponse[]
  /** Whether it is to be refused once nothing else is owed. */
  refused: boolean
  /** Bytes that the socket has read where the next head begins, NaN while that is not known. */
  headStart: number
  /** Bytes that it had read when the latest head was whole. */
  headEnd: number
  observer: Observer
  writeError: WriteError
}

const key = Symbol('connection')

export type TrackedSocket = Socket & { [key]?: Connection }

/** Returns the state of a tracked connection. */
export const connectionOf = (socket: TrackedSocket): Connection => socket[key] as Connection

/** Begins to track a connection, for an observer of its requests; `writeError` makes the body of a refusal. */
export function beginConnection(socket: TrackedSocket, observer: Observer, writeError: WriteError): Connection {
  const none = { previous: undefined, latest: undefined, owed: [], refused: false }
  socket[key] = { ...none, headStart: 0, headEnd: 0, observer, writeError }
  return socket[key]
}

/** Returns whether an earlier answer closes the connection, so that this request is not served (RFC 9112 section 9.6). */
export const isBehindLast = ({ socket }: IncomingMessage & { socket: TrackedSocket }): boolean =>
  socket[key]?.previous?.shouldKeepAlive === false || socket[key]?.refused === true
