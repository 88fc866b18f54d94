import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { clientAddress } from './client-address.ts'
import { isBehindLast } from './connection-state.ts'
import { ContractError } from './errors.ts'
import { checkHeaderSize } from './header-limit.ts'
import { contextOf, recordAddress } from './request-context.ts'
import { malformedHead } from './request-head.ts'

/** Returned by a step that has sent an answer itself. */
export const answered = Symbol('answered')

/** One step of a request: returns the error that ends it, or that it is answered, if so. */
export type Step = (request: FastifyRequest, reply: FastifyReply) => ContractError | typeof answered | undefined

/** A hook of Fastify's that may have to wait: `done` is called once, with the error that ends the request, if any. */
export type Hook = (request: FastifyRequest, reply: FastifyReply, done: (refusal?: Error) => void) => void

/** Returns one hook that takes steps in order, until one ends the request: a hook for each would cost more than the steps. */
export const inOrder =
  (steps: Step[]): Hook =>
  (request, reply, done) => {
    for (const step of steps) {
      const end = step(request, reply)
      if (end === answered) return
      if (end !== undefined) return done(end)
    }
    done()
  }

/** Returns the error that a well-formed request is refused with for overload, if any. */
export type Admit = () => ContractError | undefined

/** Lets nothing behind the last answer of a connection be served (RFC 9112 section 9.6), and no large header section: 431. */
export const checkFraming =
  (headersLimit: number): Hook =>
  (request, reply, done) => {
    const { raw } = request
    if (isBehindLast(raw)) reply.hijack()
    else {
      checkHeaderSize(raw, headersLimit, (error) => {
        if (error !== undefined) identify(request, reply)
        done(error)
      })
    }
  }

/** Gives a request and its response the app's logger: Fastify itself is given none. */
export function setServerLogger(request: FastifyRequest, reply: FastifyReply): void {
  const { log } = request.server
  request.log = log
  reply.log = log
}

/** Answers with the request id of the log, in X-Request-Id. */
export const identify: Step = (request, reply) => {
  setServerLogger(request, reply)
  const context = contextOf(request.raw)
  recordAddress(context, clientAddress(request))
  reply.header('x-request-id', context.id)
  return undefined
}

/** Refuses a malformed head that Node accepts: 400. */
export const checkHead: Step = ({ raw }) => {
  const message = malformedHead(raw)
  return message === undefined ? undefined : new ContractError('malformedRequest', message)
}

/** Refuses what cannot be served in time: 503. */
export const shedLoad =
  (admit: Admit): Step =>
  ({ raw }, reply) => {
    const refusal = admit()
    if (refusal !== undefined) readLater(raw.socket, reply.raw)
    return refusal
  }

/**
 * Reads on from a connection about a second after this answer. A rejection costs half a request, so a client that
 * returns before it was asked to would keep the service busy with rejections. Spread, so that not all come at once.
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

/** Refuses an expectation other than 100-continue: 417. */
export const checkExpectation: Step = ({ raw: { headers, httpVersion } }) => {
  const isUnknown = headers.expect !== undefined && httpVersion === '1.1' && !/^100-continue$/i.test(headers.expect)
  return isUnknown ? new ContractError('expectationFailed', 'the expectation cannot be met') : undefined
}

/** Refuses a request without a route: 404, or 405 with the methods that its path has. */
export const checkRoute =
  (allowedMethods: (url: string) => string[]): Step =>
  (request) => {
    if (!request.is404) return undefined
    const methods = allowedMethods(request.raw.url as string)
    if (methods.length === 0) return new ContractError('noSuchPath', 'there is nothing at this path')
    return new ContractError('noSuchMethod', `this path has no ${request.method}`, { allow: methods.join(', ') })
  }

/** Lets the steps judge what Node would answer itself, before anything has looked at the head. */
export function takeOverFromNode(app: FastifyInstance<Server>): void {
  for (const event of ['checkContinue', 'checkExpectation']) {
    app.server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      app.server.emit('request', request, response)
    })
  }
  // Node would drop the headers beyond its count in silence; the limit on their size stays.
  app.server.maxHeadersCount = 0
}
