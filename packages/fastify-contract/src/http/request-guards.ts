import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyHttpOptions, FastifyReply, FastifyRequest } from 'fastify'
import { ContractError, errorOf } from '../contract/errors.ts'
import { CoalescingMessage } from './body-memory.ts'
import { checkHeaderSize, followsLastResponse, isSuspect } from './connection-state.ts'
import { rejectConnection } from './connections.ts'
import { responseSent } from './cors.ts'
import { awaitsContinue } from './expectation.ts'
import { clientAddress, contextOf, recordAddress, withoutAddress } from './request-context.ts'
import { contentLength, malformedHead, parseQuery } from './request-head.ts'
import { ResettingResponse } from './resetting-response.ts'

/**
 * A check of a request. Returns the error that ends the request, or `responseSent` if the guard has sent the response.
 */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => ContractError | typeof responseSent | undefined

/** A Fastify hook that may be asynchronous. It calls `done` once, with the error that ends the request, if any. */
export type Hook = (request: FastifyRequest, reply: FastifyReply, done: (rejection?: Error) => void) => void

/**
 * Combines guards into one hook, which stops at the first that ends the request: one hook for each would be slower. An
 * error that a guard throws ends the request, too, even if Fastify does not call the hook itself.
 */
export function inOrder(guards: Guard[]): Hook {
  return function guard(request, reply, done) {
    let result: ReturnType<Guard>
    try {
      for (const guard of guards) {
        result = guard(request, reply)
        if (result !== undefined) break
      }
    } catch (thrown) {
      return done(errorOf(thrown))
    }
    if (result !== responseSent) done(result)
  }
}

/**
 * Returns a hook that ignores requests after the last response of a connection (RFC 9112 section 9.6), and rejects large
 * headers with 431, after the guard `assign`. It calls the hook `next` itself: Fastify's steps between two hooks cost time.
 */
export function checkFraming(headersLimit: number, assign: Guard, next: Hook): Hook {
  return function checkRequestFraming(request, reply, done) {
    const { raw } = request
    if (followsLastResponse(raw)) reply.hijack()
    else if (!isSuspect(raw)) next(request, reply, done)
    else {
      checkHeaderSize(raw, headersLimit, function finishCheck(error) {
        if (error === undefined) return next(request, reply, done)
        assign(request, reply)
        done(error)
      })
    }
  }
}

/** Sets the log of a server that Fastify created without one on request and reply, and calls `assignRequestId`. */
export const assignServerLog: Guard = (request, reply) => {
  const { log } = request.server
  request.log = log
  reply.log = log
  return assignRequestId(request, reply)
}

/** Adds X-Request-Id to the response, and records the client's address. */
export const assignRequestId: Guard = (request, reply) => {
  const { socket } = request.raw
  if (socket.remoteAddress === withoutAddress) Object.assign(socket, { remoteAddress: undefined })
  const context = contextOf(request.raw)
  recordAddress(context, clientAddress(request))
  reply.header('x-request-id', context.id)
  return undefined
}

/** Rejects with 400 the malformed heads that Node.js accepts. */
export const checkHead: Guard = ({ raw }) => {
  const message = malformedHead(raw)
  return message === undefined ? undefined : new ContractError('malformedRequest', message)
}

/** Rejects a request with 503 if `shedLoad` returns an error, which it does under overload. */
export function checkLoad(shedLoad: () => ContractError | undefined): Guard {
  return function shed({ raw }, reply) {
    const rejection = shedLoad()
    if (rejection !== undefined) pauseReading(raw.socket, reply.raw)
    return rejection
  }
}

/**
 * Pauses reading from a connection for about a second after this response. A rejection costs half a request, so clients
 * that ignore Retry-After would keep the service busy with rejections. The pause is random, to spread the retries. A
 * connection of Fastify's inject cannot be paused.
 */
function pauseReading(socket: Partial<Pick<Socket, 'pause' | 'resume'>>, response: ServerResponse): void {
  const milliseconds = 500 + 1_000 * Math.random()
  // Node.js first resumes the socket to drain the body, so the pause must come after that.
  response.once('close', () =>
    setImmediate(() => {
      socket.pause?.()
      setTimeout(() => socket.resume?.(), milliseconds).unref()
    }),
  )
}

/** Rejects with 417 an `Expect` header other than 100-continue. */
export const checkExpectation: Guard = ({ raw: { headers, httpVersion } }) => {
  const isUnknown = headers.expect !== undefined && httpVersion === '1.1' && !/^100-continue$/i.test(headers.expect)
  return isUnknown
    ? new ContractError('expectationFailed', 'unsupported Expect header; send 100-continue or none')
    : undefined
}

/** Returns the error for a request that no operation serves: a 404, or a 405 with the methods of its path in Allow. */
export function routeError(allowedMethods: (url: string) => string[]): Guard {
  return function errorOfRoute({ raw, method }) {
    const methods = allowedMethods(raw.url as string)
    if (methods.length === 0) return new ContractError('noSuchPath', 'no such path')
    return new ContractError('noSuchMethod', `this path does not support ${method}`, { allow: methods.join(', ') })
  }
}

/**
 * Rejects a request without a route. Fastify's router lets a path parameter be empty, but the path `/x/` is not one of
 * `/x/{a}`.
 */
export function checkRoute(allowedMethods: (url: string) => string[]): Guard {
  const errorOf = routeError(allowedMethods)
  return function checkParameters(request, reply) {
    const { params } = request
    let isServed = !request.is404
    for (const name in params as object) if ((params as Record<string, string>)[name] === '') isServed = false
    return isServed ? undefined : errorOf(request, reply)
  }
}

/**
 * Sends 100 Continue to a client that waits for it, unless the announced body is too large (RFC 9110 section 10.1.1).
 */
export const sendContinue: Guard = (request, reply) => {
  const { headers, raw } = request
  if (!awaitsContinue(raw)) return undefined
  if (contentLength(headers) <= (request.server.initialConfig.bodyLimit as number)) reply.raw.writeContinue()
  return undefined
}

/** Returns the target of a request in origin form; a server must accept the absolute form (RFC 9112 section 3.2.2). */
export function originForm({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]+\/?/i, '/')
}

/** Fastify options that give the error responses of Fastify and Node.js themselves the contract's error body. */
export const serverOptions = {
  // For these errors no hook has run, so their first two steps are done here.
  frameworkErrors(error, request, reply) {
    assignServerLog(request, reply)
    const rejection = checkHead(request, reply) ?? error
    request.server.errorHandler(rejection as typeof error, request, reply)
  },
  clientErrorHandler: rejectConnection,
  // Fastify's 503 while closing has a different body; requests that arrive then are still served.
  return503OnClosing: false,
  // The 400 of Node.js for a missing Host has no body; malformedHead checks the header instead.
  http: { requireHostHeader: false, IncomingMessage: CoalescingMessage, ServerResponse: ResettingResponse },
  // Fastify would otherwise create a different request id.
  genReqId: (request) => contextOf(request).id,
  rewriteUrl: originForm,
  // The header limit already bounds the length of a path.
  routerOptions: { maxParamLength: 65_536, querystringParser: parseQuery },
} satisfies FastifyHttpOptions<Server>
