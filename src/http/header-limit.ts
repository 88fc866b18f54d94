import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { CoalescingMessage } from './coalescing-message.ts'
import { type Connection, connectionOf } from './connection-state.ts'
import { ContractError } from './errors.ts'
import { contentLength } from './request-head.ts'

/*
 * Node's own limit counts names and values only. These functions count what came over the wire, by what the socket has
 * read: to look at the bytes themselves would switch off Node's fast path from socket to parser.
 */

const key = Symbol('bytes to explain')

/** A request whose head may be too large: the bytes that the connection has read when the head began, if known. */
type Doubtful = IncomingMessage & { [key]?: number }

const bodyKey = Symbol('limit of the body')

type Limited = IncomingMessage & { [bodyKey]?: number }

/** Notes how many bytes the body of a request may have, where that is not the limit of all bodies. */
export function noteBodyLimit(request: Limited, limit: number): void {
  request[bodyKey] = limit
}

/** Notes that a head is whole; has to be called for each one, before anything else is read from its connection. */
export function noteHead(request: Doubtful, connection: Connection, limit: number): void {
  const { bytesRead } = request.socket
  const { headStart } = connection
  connection.headStart = Number.NaN
  connection.headEnd = bytesRead
  // Mostly all that came since is less, with the body or a part of it.
  if (!(bytesRead - headStart <= limit)) request[key] = headStart
}

/** Notes that an answer has left and that its request is whole, so that the next head begins behind its body. */
export function noteEnd(request: IncomingMessage, connection: Connection): void {
  if (connection.owed.length > 0) return
  const { bytesRead } = request.socket
  const { headEnd } = connection
  const isKnown = bytesRead > headEnd && !isChunked(request)
  connection.headStart = isKnown ? Math.min(bytesRead, headEnd + contentLength(request.headers)) : bytesRead
}

/** Notes where the next head begins at the latest, when an answer has left before the body of its request was whole. */
export function noteQuiet(socket: Socket, connection: Connection): void {
  const isQuiet = connection.owed.length === 0 && (connection.latest?.req.complete ?? true)
  if (isQuiet && Number.isNaN(connection.headStart)) connection.headStart = socket.bytesRead
}

/** Returns whether an unfinished head or trailer section is too large. `bodyLimit` is that of bodies without their own. */
export function isEndless(socket: Socket, connection: Connection, limit: number, bodyLimit: number): boolean {
  const { headStart, headEnd, latest } = connection
  const { bytesRead } = socket
  if (latest === undefined || latest.req.complete) return bytesRead - headStart > limit
  const most = (latest.req as Limited)[bodyKey] ?? bodyLimit
  return isChunked(latest.req) && bytesRead - headEnd > mostOnWire(latest.req, most) + limit
}

/**
 * Calls `done` once with the error of a header section that is too large, if it is. Lines count without the whitespace
 * around values, which the parser drops. The whitespace counts, too, unless another request came in the same read.
 */
export function checkHeaderSize(request: Doubtful, limit: number, done: (error?: ContractError) => void): void {
  const headStart = request[key]
  if (headStart === undefined) done()
  else if (hasLargeLines(request, limit)) done(tooLarge())
  // Node has parsed by then what it has read.
  else setImmediate(() => done(hasLargeRest(request, headStart, limit) ? tooLarge() : undefined))
}

function hasLargeRest(request: IncomingMessage, headStart: number, limit: number): boolean {
  const { socket, parsedLength } = request as CoalescingMessage
  const rest = socket.bytesRead - headStart - mostOnWire(request, parsedLength)
  return connectionOf(socket).latest?.req === request && rest > limit
}

/** Returns whether the lines of a head are too large, without the whitespace that the parser dropped. */
const hasLargeLines = ({ method = '', url = '', rawHeaders }: IncomingMessage, limit: number): boolean =>
  `${method} ${url} HTTP/1.1\r\n\r\n`.length + linesLength(rawHeaders) > limit

/** Returns the error of a trailer section that is too large, once `length` bytes of body and all trailers are there. */
export function checkTrailerSize(request: IncomingMessage, length: number, limit: number): ContractError | undefined {
  if (!isChunked(request)) return undefined
  const { latest, headEnd } = connectionOf(request.socket)
  // What came behind the trailers may be another request.
  const isLast = latest?.req === request
  const rest = isLast ? request.socket.bytesRead - headEnd - mostOnWire(request, length) : 0
  return rest > limit || linesLength(request.rawTrailers) > limit ? tooLarge() : undefined
}

export const tooLarge = (): ContractError => new ContractError('headersTooLarge', 'the header section is too large')

/** Each line has a colon and a line end. */
function linesLength(raw: string[]): number {
  let length = (raw.length / 2) * ':\r\n'.length
  for (const text of raw) length += text.length
  return length
}

/** Bytes on the wire for so many bytes of a body: in chunks of one byte, each has six, and the last, empty one has five. */
const mostOnWire = (request: IncomingMessage, length: number): number => (isChunked(request) ? 6 * length + 5 : length)

const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined
