import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyHttpOptions, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { followConnections, jsonType, refuseConnection } from './connections.ts'
import { ContractError, errorNumbers, toContractError } from './errors.ts'
import { parseQuery } from './parameters.ts'
import { contentLength, malformedHead } from './request-head.ts'

/** Fastify options without which an answer would leave the server that is not the contract's. */
export const exitOptions = {
  frameworkErrors: (error, request, reply) => answer(malformed(request) ?? error, request, reply),
  clientErrorHandler: refuseConnection,
  // Fastify's own 503 while closing has a body of its own shape: requests that still arrive are served.
  return503OnClosing: false,
  // Node's own 400 for a missing Host has no body: it is refused with the rest of a malformed head.
  http: { requireHostHeader: false },
  // RFC 9112 section 3.2.2: a server accepts the absolute form of a request target.
  rewriteUrl: ({ url = '' }) => (url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]+\/?/i, '/')),
  // The header section's own limit bounds a path.
  routerOptions: { maxParamLength: 65_536, querystringParser: parseQuery },
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
  // Node would send 100 Continue before anybody has looked at the head.
  app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    app.server.emit('request', request, response)
  })
  // Node would drop the headers beyond its count in silence; the limit on their size stays.
  app.server.maxHeadersCount = 0
  followConnections(app)
}

function answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = toContractError(thrown)
  if (error.statusCode === 500) request.log.error({ err: thrown }, 'request failed')
  else if (error.statusCode === 503) request.log.warn({ err: thrown }, 'request refused')
  // Of what follows a malformed head or a large unread body nobody knows where it ends, or wants to.
  if (error.error === errorNumbers.malformedRequest || unreadBytes(request) > readAndDropped) {
    reply.header('connection', 'close')
  } else if (request.raw.complete && !reply.raw.hasHeader('connection') && reply.hasHeader('connection')) {
    // Fastify closes after every error of a body parser, also when the body was read whole.
    reply.removeHeader('connection')
  }
  // As text: an error leaves as it is, whatever the schemas of the operation say.
  reply.code(error.statusCode).headers(error.headers).type(jsonType).send(JSON.stringify(error.body))
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

function refusal(request: FastifyRequest, allowedMethods: (url: string) => string[]): ContractError | undefined {
  const error = malformed(request)
  if (error !== undefined || !request.is404) return error
  const methods = allowedMethods(request.raw.url as string)
  if (methods.length === 0) return new ContractError('noSuchPath', 'there is nothing at this path')
  return new ContractError('noSuchMethod', `this path has no ${request.method}`, { allow: methods.join(', ') })
}
