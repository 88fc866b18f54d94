import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyHttpOptions, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ContractError, toContractError } from './errors.ts'

/** Fastify options without which an answer would leave the server that is not the contract's. */
export const exitOptions = {
  frameworkErrors: answer,
  clientErrorHandler,
  // Fastify's own 503 while closing has a body of its own shape: requests that still arrive are served.
  return503OnClosing: false,
  // Node's own 400 for a missing Host has no body: the hook below refuses it.
  http: { requireHostHeader: false },
  // RFC 9112 section 3.2.2: a server accepts the absolute form of a request target.
  rewriteUrl: ({ url = '' }) => (url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*\/?/i, '/')),
  // The header section's own limit bounds a path.
  routerOptions: { maxParamLength: 65_536 },
} satisfies FastifyHttpOptions<Server>

/** Gives every way out of the app an Error body; `allowedMethods` lists the methods of a path, none when unknown. */
export function ownExits(app: FastifyInstance, allowedMethods: (url: string) => string[]): void {
  app.setErrorHandler(answer)
  app.addHook('onRequest', (request, _reply, done) => done(refusal(request, allowedMethods)))
  app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { statusCode, body } = new ContractError('expectationFailed', 'the expectation cannot be met')
    const text = JSON.stringify(body)
    const headers = { 'content-type': jsonType, 'content-length': Buffer.byteLength(text), connection: 'close' }
    response.writeHead(statusCode, headers).end(text)
  })
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // RFC 9110 9.3.6: CONNECT asks for a tunnel; no path of the contract has it.
    end(socket, new ContractError('noSuchMethod', 'CONNECT is not supported', { allow: '' }))
  })
  trackAnswers(app)
}

const jsonType = 'application/json; charset=utf-8'

function answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = toContractError(thrown)
  if (error.statusCode === 500) request.log.error({ err: thrown }, 'request failed')
  else if (error.statusCode === 503) request.log.warn({ err: thrown }, 'request refused')
  if (request.raw.complete) reply.removeHeader('connection')
  else if (unreadBytes(request) > readAndDropped) reply.header('connection', 'close')
  // As text: an error leaves as it is, whatever the schemas of the operation say.
  reply.code(error.statusCode).headers(error.headers).type(jsonType).send(JSON.stringify(error.body))
}

/** Node reads what is left of a refused body before the next request on the connection; more bytes are not worth it. */
const readAndDropped = 65_536

const unreadBytes = ({ headers }: FastifyRequest): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY

/** RFC 9110 5.3 allows these once only; Node would silently take the first. */
const singletons = new Set(['host', 'authorization', 'content-type'])

function refusal(request: FastifyRequest, allowedMethods: (url: string) => string[]): ContractError | undefined {
  const { rawHeaders, headers, httpVersion } = request.raw
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase()
    if (!singletons.has(name)) continue
    if (seen.has(name)) return new ContractError('malformedRequest', `the header ${name} is given more than once`)
    seen.add(name)
  }
  // RFC 9112 3.2.
  if (headers.host === undefined && httpVersion === '1.1') {
    return new ContractError('malformedRequest', 'the header host is missing')
  }
  if (!request.is404) return undefined
  const methods = allowedMethods(request.raw.url ?? '')
  if (methods.length === 0) return new ContractError('noSuchPath', 'there is nothing at this path')
  return new ContractError('noSuchMethod', `this path has no ${request.method}`, { allow: methods.join(', ') })
}

/** The latest answer on each open connection. */
const answers = new WeakMap<Socket, ServerResponse>()

/** Makes the answers that are under way when the app closes the last of their connections, which Node would keep. */
function trackAnswers(app: FastifyInstance): void {
  const sockets = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => answers.set(socket, response))
  app.addHook('preClose', (done) => {
    for (const response of Array.from(sockets, (socket) => answers.get(socket))) {
      if (response !== undefined) response.shouldKeepAlive = false
    }
    done()
  })
}

function clientErrorHandler(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const response = answers.get(socket)
  // A request that is read whole is answered first: the error belongs to the one that was pipelined behind it.
  if (response?.req.complete && !response.writableFinished) response.once('close', () => end(socket, error))
  else if (response?.headersSent && !response.writableFinished) socket.destroy()
  else end(socket, error)
}

function end(socket: Socket, thrown: unknown): void {
  const { statusCode, headers, body } = toContractError(thrown)
  const text = JSON.stringify(body)
  const lines = Object.entries({ ...headers, 'content-type': jsonType, 'content-length': Buffer.byteLength(text) })
  socket.end(
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n` +
      lines.map(([name, value]) => `${name}: ${value}\r\n`).join('') +
      `connection: close\r\n\r\n${text}`,
  )
}
