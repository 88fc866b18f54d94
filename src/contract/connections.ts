import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { ContractError, toContractError } from './errors.ts'

/** RFC 8259 knows no charset; Fastify names it on every reply, and so does every error. */
export const jsonType = 'application/json; charset=utf-8'

/** The two latest answers on each open connection: with pipelining one may wait for the other. */
const answers = new WeakMap<Socket, { previous: ServerResponse | undefined; latest: ServerResponse }>()

/** Follows the connections of an app: for errors outside of any request, and to end them when the app closes. */
export function followConnections(app: FastifyInstance): void {
  const sockets = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.server.on('request', ({ socket }: IncomingMessage, latest: ServerResponse) => {
    answers.set(socket, { previous: answers.get(socket)?.latest, latest })
  })
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    // RFC 9110 section 9.3.6: CONNECT asks for a tunnel, which no path of a contract is.
    refuseConnection(new ContractError('noSuchMethod', 'there are no tunnels here', { allow: '' }), socket)
  })
  // An answer that is owed becomes the last of its connection; Node would keep that open, and enforces no time limit
  // once the server closes.
  app.addHook('preClose', (done) => {
    for (const socket of sockets) {
      const { latest } = answers.get(socket) ?? {}
      if (latest === undefined || latest.writableFinished) socket.destroySoon()
      else {
        latest.shouldKeepAlive = false
        socket.setTimeout(app.server.requestTimeout)
      }
    }
    done()
  })
}

/** Answers what the HTTP parser could not make a request of, after every answer that is still owed, and hangs up. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { previous, latest } = answers.get(socket) ?? {}
  // The bytes belong to the latest request while that is not read whole, else to one behind it.
  const own = latest?.req.complete === false ? latest : undefined
  const answered = own?.headersSent ?? false
  const owed = own === undefined || answered ? latest : previous
  const hangUp = () => (answered ? socket.destroySoon() : end(socket, error))
  if (owed === undefined || owed.writableFinished) hangUp()
  else owed.once('close', hangUp)
}

function end(socket: Socket, thrown: unknown): void {
  const { statusCode, headers, body } = toContractError(thrown)
  const text = JSON.stringify(body)
  const head = {
    ...headers,
    'content-type': jsonType,
    'content-length': Buffer.byteLength(text),
    date: new Date().toUTCString(),
    connection: 'close',
  }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n${text}`)
  // A close with bytes unread resets the connection, which may cost the client the answer: it gets a second to read.
  setTimeout(() => socket.destroy(), 1_000).unref()
}
