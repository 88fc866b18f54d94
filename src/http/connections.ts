import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { jsonMediaType } from './error-responses.ts'
import { ContractError, toContractError } from './errors.ts'
import { isAllRead } from './read-body.ts'
import {
  contextOf,
  newContext,
  type Observer,
  type RequestContext,
  recordAddress,
  recordEnd,
  recordRefusal,
} from './request-context.ts'

type Connection = {
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

type TrackedSocket = Socket & { [key]?: Connection }

const connectionOf = (socket: TrackedSocket): Connection => socket[key] as Connection

/** Observer that ignores every event. */
const unobserved: Observer = { begin() {}, end() {} }

export type Tracking = {
  observer?: Observer | undefined
  /** Whether each answer is to be the last of its connection. */
  draining?: (() => boolean) | undefined
}

/** Tracks connections, so that observers see every request, errors outside of a request are answered, and shutdown can
 * close them. */
export function trackConnections(
  app: FastifyInstance,
  { observer = unobserved, draining = () => false }: Tracking,
): void {
  const sockets = new Set<Socket>()
  const finish = (response: ServerResponse) => {
    const context = contextOf(response.req)
    recordEnd(context, response.headersSent ? response.statusCode : undefined)
    observer.end(context)
  }
  function left(this: ServerResponse): void {
    const connection = connectionOf(this.req.socket)
    const at = connection.owed.indexOf(this)
    if (at === -1) return
    connection.owed.splice(at, 1)
    // Nothing asks for it any more: held, it would outlive the garbage that it is.
    if (connection.latest === this && this.shouldKeepAlive && isAllRead(this.req)) connection.latest = undefined
    finish(this)
  }
  app.server.on('connection', (socket: TrackedSocket) => {
    const owed: ServerResponse[] = []
    socket[key] = { previous: undefined, latest: undefined, owed, refused: false, observer }
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      // Of an answer that waits behind another one Node does not say that it never leaves.
      for (const response of owed.splice(0)) finish(response)
    })
  })
  // Before Fastify, which may answer at once.
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connectionOf(request.socket)
    connection.previous = connection.latest
    connection.latest = response
    // Node loses what came in one segment behind a request to upgrade: what is parsed next may be the middle of a body.
    if (draining() || request.headers.upgrade !== undefined || isBehindLast(request)) response.shouldKeepAlive = false
    connection.owed.push(response)
    observer.begin(contextOf(request))
    response.on('close', left)
  })
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node leaves a tunnel to itself: without errors handled, and without a limit on its time.
    for (const event of ['error', 'timeout']) socket.on(event, () => socket.destroy())
    // RFC 9110 section 9.3.6: CONNECT asks for a tunnel, which no path of a contract is.
    refuseConnection(new ContractError('noSuchMethod', 'there are no tunnels here', { allow: '' }), socket)
  })
  // An answer that is owed becomes the last of its connection; Node would keep that open, and enforces no time limit
  // once the server closes.
  app.addHook('preClose', (done) => {
    for (const socket of sockets) {
      const { latest } = connectionOf(socket)
      if (latest === undefined || latest.writableFinished) socket.destroySoon()
      else {
        latest.shouldKeepAlive = false
        socket.setTimeout(app.server.requestTimeout)
      }
    }
    done()
  })
}

/** Whether an earlier answer is the last of the connection: RFC 9112 section 9.6 has nothing behind it served. */
export const isBehindLast = ({ socket }: IncomingMessage & { socket: TrackedSocket }): boolean =>
  socket[key]?.previous?.shouldKeepAlive === false

/** Answers what the HTTP parser could not make a request of, after every answer that is still owed, and hangs up. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const connection = connectionOf(socket)
  const { previous, latest, observer } = connection
  // Whatever comes after malformed bytes is malformed anew.
  if (connection.refused) return
  connection.refused = true
  // The bytes belong to the latest request while that is not read whole, else to one behind it.
  const own = latest?.req.complete === false ? latest : undefined
  const answered = own?.headersSent ?? latest?.shouldKeepAlive === false
  const owed = own === undefined || answered ? latest : previous
  const hangUp = () => {
    if (answered) socket.destroySoon()
    else if (own !== undefined) end(socket, error, contextOf(own.req))
    else {
      const context = newContext('')
      observer.begin(context)
      end(socket, error, context)
      observer.end(context)
    }
  }
  if (owed === undefined || owed.writableFinished) hangUp()
  else owed.once('close', hangUp)
}

function end(socket: Socket, thrown: unknown, context: RequestContext): void {
  const error = toContractError(thrown)
  const { statusCode, headers, body } = error
  recordAddress(context, socket.remoteAddress)
  recordRefusal(context, error)
  recordEnd(context, statusCode)
  const text = JSON.stringify(body)
  const head = {
    ...headers,
    'x-request-id': context.id,
    'content-type': jsonMediaType,
    'content-length': Buffer.byteLength(text),
    date: new Date().toUTCString(),
    connection: 'close',
  }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n${text}`)
  // A close with bytes unread resets the connection, which may cost the client the answer: it gets a second to read.
  setTimeout(() => socket.destroy(), 1_000).unref()
}
