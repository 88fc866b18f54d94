import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyHttpOptions, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseQuery } from '../openapi/parameters.ts'
import { clientAddress } from './client-address.ts'
import { type Following, followConnections, isBehindLast, jsonType, refuseConnection } from './connections.ts'
import { ContractError, errorNumbers, toContractError } from './errors.ts'
import { isAllRead } from './read-body.ts'
import { exchangeOf } from './request-context.ts'
import { contentLength, malformedHead } from './request-head.ts'

/** Fastify options without which an answer would leave the server that is not the contract's. */
export const exitOptions = {
  // No hook has run for these.
  frameworkErrors(error, request, reply) {
    identify(request, reply)
    answer(malformed(request) ?? error, request, reply)
  },
  clientErrorHandler: refuseConnection,
  // Fastify's own 503 while closing has a body of its own shape: requests that still arrive are served.
  return503OnClosing: false,
  // Node's own 400 for a missing Host has no body: it is refused with the rest of a malformed head.
  http: { requireHostHeader: false },
  // Fastify would make a logger for each request, and an id of its own.
  childLoggerFactory: (logger) => logger,
  genReqId: (request) => exchangeOf(request).id,
  // RFC 9112 section 3.2.2: a server accepts the absolute form of a request target.
  rewriteUrl: ({ url = '' }) => (url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]+\/?/i, '/')),
  // The header section's own limit bounds a path.
  routerOptions: { maxParamLength: 65_536, querystringParser: parseQuery },
} satisfies FastifyHttpOptions<Server>

export type Exits = Following & {
  /** The methods of a path, none when it is unknown. */
  allowedMethods(url: string): string[]
  /** Gives what a well-formed request is refused with before anybody looks further. */
  admit?: (() => ContractError | undefined) | undefined
}

/** Gives every way out of the app an Error body. */
export function ownExits(app: FastifyInstance, exits: Exits): void {
  app.setErrorHandler(answer)
  app.addHook('onRequest', (request, reply, done) => {
    if (isBehindLast(request.raw)) {
      reply.hijack()
      return
    }
    identify(request, reply)
    const error = refusal(request, exits)
    if (error?.error === errorNumbers.unavailable) readLater(request.raw.socket, reply.raw)
    done(error)
  })
  // Node would answer these itself, before anybody has looked at the head.
  for (const event of ['checkContinue', 'checkExpectation']) {
    app.server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      app.server.emit('request', request, response)
    })
  }
  // Node would drop the headers beyond its count in silence; the limit on their size stays.
  app.server.maxHeadersCount = 0
  followConnections(app, exits)
}

function answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = toContractError(thrown)
  exchangeOf(request.raw).error = error.error
  if (error !== thrown) logCause(request, error, thrown)
  // A large unread body is not worth its bytes.
  if (closing.has(error.error) || unreadBytes(request) > readAndDropped) {
    reply.raw.shouldKeepAlive = false
  } else if (isAllRead(request.raw) && !reply.raw.hasHeader('connection') && reply.hasHeader('connection')) {
    // Fastify closes after every error of a body parser, also when the body was read whole.
    reply.removeHeader('connection')
  }
  // As text: an error leaves as it is, whatever the schemas of the operation say.
  reply.code(error.statusCode).headers(error.headers).type(jsonType).send(JSON.stringify(error.body))
}

/** Of what follows these nobody knows where it ends. */
const closing = new Set<number>([errorNumbers.malformedRequest, errorNumbers.expectationFailed])

function logCause({ log, raw }: FastifyRequest, { statusCode }: ContractError, err: unknown): void {
  const line = { request_id: exchangeOf(raw).id, err }
  if (statusCode === 500) log.error(line, 'request failed')
  else if (statusCode === 503) log.warn(line, 'request refused')
}

/**
 * Reads on from a connection about a second after this answer. To refuse costs half as much as to serve: a client that
 * comes again before it was asked to would keep the service busy with refusing. Spread, so that not all come at once.
 */
function readLater(socket: Socket, response: ServerResponse): void {
  const milliseconds = 500 + 1_000 * Math.random()
  // Not before Node has dropped what it had read of the body, for which it reads on.
  response.once('close', () =>
    setImmediate(() => {
      socket.pause()
      setTimeout(() => socket.resume(), milliseconds).unref()
    }),
  )
}

/** Every answer tells the id by which the log knows its request. */
function identify(request: FastifyRequest, reply: FastifyReply): void {
  const exchange = exchangeOf(request.raw)
  exchange.address = clientAddress(request)
  reply.header('x-request-id', exchange.id)
}

/** Node reads what is left of a refused body before the next request on the connection; more bytes are not worth it. */
const readAndDropped = 65_536

function unreadBytes({ raw: { complete, headers } }: FastifyRequest): number {
  if (complete) return 0
  return headers['transfer-encoding'] === undefined ? contentLength(headers) : Number.POSITIVE_INFINITY
}

function malformed({ raw }: FastifyRequest): ContractError | undefined {
  const message = malformedHead(raw)
  return message === undefined ? undefined : new ContractError('malformedRequest', message)
}

function refusal(request: FastifyRequest, { allowedMethods, admit }: Exits): ContractError | undefined {
  const { headers, httpVersion } = request.raw
  const error = malformed(request) ?? admit?.()
  if (error !== undefined) return error
  if (headers.expect !== undefined && httpVersion === '1.1' && !/^100-continue$/i.test(headers.expect)) {
    return new ContractError('expectationFailed', 'the expectation cannot be met')
  }
  if (!request.is404) return undefined
  const methods = allowedMethods(request.raw.url as string)
  if (methods.length === 0) return new ContractError('noSuchPath', 'there is nothing at this path')
  return new ContractError('noSuchMethod', `this path has no ${request.method}`, { allow: methods.join(', ') })
}
