import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ContractError } from '../contract/errors.ts'
import type { CoalescingMessage } from './body-memory.ts'
import type { LingeringClose } from './lingering-close.ts'
import type { Observer, WriteError } from './request-context.ts'
import { contentLength } from './request-head.ts'

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
} & ConnectionTools

/** What the connections of a server share. `writeError` creates the body of error responses outside of a request. */
export type ConnectionTools = { observer: Observer; writeError: WriteError; lingering: LingeringClose }

const connectionKey = Symbol('connection')

export type TrackedSocket = Socket & { [connectionKey]?: Connection }

/** Returns the state of a tracked connection. */
export const connectionOf = (socket: TrackedSocket): Connection => socket[connectionKey] as Connection

/** Starts tracking a connection. */
export function beginConnection(socket: TrackedSocket, tools: ConnectionTools): Connection {
  const none = { previous: undefined, latest: undefined, pending: [], refused: false }
  socket[connectionKey] = { ...none, headStart: 0, headEnd: 0, ...tools }
  return socket[connectionKey]
}

/**
 * Returns whether an earlier response closes the connection, so that this request is ignored (RFC 9112 section 9.6).
 */
export const followsLastResponse = ({ socket }: IncomingMessage & { socket: TrackedSocket }): boolean =>
  socket[connectionKey]?.previous?.shouldKeepAlive === false || socket[connectionKey]?.refused === true

/*
 * The header limit of Node.js counts names and values only. These functions count the bytes on the wire, derived from
 * socket.bytesRead: a data listener would disable the fast path of Node.js from socket to parser.
 */

const headStartKey = Symbol('start of a suspect head')

/** A request whose head may be too large, with the value of socket.bytesRead where the head began; NaN if unknown. */
type SuspectRequest = IncomingMessage & { [headStartKey]?: number }

const bodyLimitKey = Symbol('body limit')

type LimitedRequest = IncomingMessage & { [bodyLimitKey]?: number }

/** Records the maximum size in bytes of the body of a request, if it differs from the general limit. */
export function noteBodyLimit(request: LimitedRequest, limit: number): void {
  request[bodyLimitKey] = limit
}

/** Records that a head is complete. Must be called for each head, before more is read from its connection. */
export function noteHead(request: SuspectRequest, connection: Connection, limit: number): void {
  const { bytesRead } = request.socket
  const { headStart } = connection
  connection.headStart = Number.NaN
  connection.headEnd = bytesRead
  // Usually all bytes since the head began, including those of the body, are within the limit.
  if (!(bytesRead - headStart <= limit)) request[headStartKey] = headStart
}

/** Records that a response was sent and its request is complete, so that the next head begins after its body. */
export function noteEnd(request: IncomingMessage, connection: Connection): void {
  if (connection.pending.length > 0) return
  const { bytesRead } = request.socket
  const { headEnd } = connection
  // The next head may have arrived with the body, so it begins at bytesRead or before. The Content-Length gives a closer
  // bound if the body did not arrive with its head.
  const isEndKnown = bytesRead > headEnd && !isChunked(request)
  connection.headStart = isEndKnown ? Math.min(bytesRead, headEnd + contentLength(request.headers)) : bytesRead
}

/**
 * Records the latest possible start of the next head. Needed after a response that was sent before its request was
 * complete: noteEnd was not called for it. Returns whether no request is pending and no byte of the next head has arrived.
 */
export function noteIdle(socket: Socket, connection: Connection): boolean {
  if (connection.pending.length > 0 || connection.latest?.req.complete === false) return false
  if (Number.isNaN(connection.headStart)) connection.headStart = socket.bytesRead
  return connection.headStart === socket.bytesRead
}

/** Returns whether an incomplete head or trailer section is too large. `bodyLimit` is the general limit of bodies. */
export function isTooLarge(socket: Socket, connection: Connection, limit: number, bodyLimit: number): boolean {
  const { headStart, headEnd, latest } = connection
  const { bytesRead } = socket
  if (latest === undefined || latest.req.complete) return bytesRead - headStart > limit
  const maxBody = (latest.req as LimitedRequest)[bodyLimitKey] ?? bodyLimit
  return isChunked(latest.req) && bytesRead - headEnd > maxOnWire(latest.req, maxBody) + limit
}

/**
 * Calls `done` once, with an error if the header section is larger than `limit` bytes. Checks two sizes: that of the
 * parsed lines, which lack the whitespace around values, and that of the bytes on the wire. The size on the
 * wire is unknown, and not checked, if another request arrived in the same read.
 */
export function checkHeaderSize(request: SuspectRequest, limit: number, done: (error?: ContractError) => void): void {
  const headStart = request[headStartKey]
  if (headStart === undefined) done()
  else if (hasLargeLines(request, limit)) done(headersTooLarge())
  // By the next turn Node.js has parsed all bytes that it has read.
  else setImmediate(() => done(hasLargeHead(request, headStart, limit) ? headersTooLarge() : undefined))
}

/** Returns whether the bytes of a head on the wire are too large: those read since it began, without the body. */
function hasLargeHead(request: IncomingMessage, headStart: number, limit: number): boolean {
  const { socket, parsedLength } = request as CoalescingMessage
  const headBytes = socket.bytesRead - headStart - maxOnWire(request, parsedLength)
  return connectionOf(socket).latest?.req === request && headBytes > limit
}

/** Returns whether the lines of a head are too large without the whitespace that the parser drops. */
const hasLargeLines = ({ method = '', url = '', rawHeaders }: IncomingMessage, limit: number): boolean =>
  `${method} ${url} HTTP/1.1\r\n\r\n`.length + linesLength(rawHeaders) > limit

/**
 * Returns an error if the trailer section is too large. Call it when the body, of `length` bytes, and trailers are
 * read.
 */
export function checkTrailerSize(request: IncomingMessage, length: number, limit: number): ContractError | undefined {
  const { [connectionKey]: connection } = request.socket as TrackedSocket
  // A request of Fastify's inject has no connection and no trailers, whatever its headers say.
  if (connection === undefined || !isChunked(request)) return undefined
  const { latest, headEnd } = connection
  // Bytes after the trailers may belong to another request.
  const isLast = latest?.req === request
  const trailerBytes = isLast ? request.socket.bytesRead - headEnd - maxOnWire(request, length) : 0
  return trailerBytes > limit || linesLength(request.rawTrailers) > limit ? headersTooLarge() : undefined
}

/** Returns the error of a header section over its limit: 431. */
export const headersTooLarge = (): ContractError =>
  new ContractError('headersTooLarge', 'the header section is too large')

/** Returns the length of header lines, each with a colon and a line break. */
function linesLength(raw: string[]): number {
  let length = (raw.length / 2) * ':\r\n'.length
  for (const text of raw) length += text.length
  return length
}

/**
 * Returns the maximum number of bytes on the wire for a body of `length` bytes: a chunk of one byte takes six, and the
 * empty last chunk takes five.
 */
const maxOnWire = (request: IncomingMessage, length: number): number => (isChunked(request) ? 6 * length + 5 : length)

const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined
