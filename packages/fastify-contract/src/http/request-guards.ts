import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyHttpOptions, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { CoalescingMessage } from './body-memory.ts'
import { checkHeaderSize, followsLastResponse } from './connection-state.ts'
import { rejectConnection } from './connections.ts'
import { ContractError } from './errors.ts'
import { clientAddress, contextOf, recordAddress, withoutAddress } from './request-context.ts'
import { contentLength, hasNoContent, malformedHead, parseContentType, parseQuery } from './request-head.ts'
import { ResettingResponse } from './resetting-response.ts'

/** Returned by a guard that has sent the response itself. */
export const responseSent = Symbol('response sent')

/**
 * A check of a request. Returns the error that ends the request, or `responseSent` if the guard has sent the response.
 */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => ContractError | typeof responseSent | undefined

/** A Fastify hook that may be asynchronous. It calls `done` once, with the error that ends the request, if any. */
export type Hook = (request: FastifyRequest, reply: FastifyReply, done: (rejection?: Error) => void) => void

/**
 * Combines guards into one hook, which stops at the first that ends the request: one hook for each would be slower.
 */
export const inOrder =
  (guards: Guard[]): Hook =>
  (request, reply, done) => {
    for (const guard of guards) {
      const result = guard(request, reply)
      if (result === responseSent) return
      if (result !== undefined) return done(result)
    }
    done()
  }

/** Ignores requests after the last response of a connection (RFC 9112 section 9.6); rejects large headers with 431. */
export const checkFraming =
  (headersLimit: number): Hook =>
  (request, reply, done) => {
    const { raw } = request
    if (followsLastResponse(raw)) reply.hijack()
    else {
      checkHeaderSize(raw, headersLimit, (error) => {
        if (error !== undefined) assignRequestId(request, reply)
        done(error)
      })
    }
  }

/** Adds X-Request-Id to the response, records the client's address, and sets the server's log on request and reply. */
export const assignRequestId: Guard = (request, reply) => {
  // Fastify was created without a logger, and sets a silent one.
  const { log } = request.server
  const { socket } = request.raw
  if (socket.remoteAddress === withoutAddress) Object.assign(socket, { remoteAddress: undefined })
  request.log = log
  reply.log = log
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
export const checkLoad =
  (shedLoad: () => ContractError | undefined): Guard =>
  ({ raw }, reply) => {
    const rejection = shedLoad()
    if (rejection !== undefined) pauseReading(raw.socket, reply.raw)
    return rejection
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
export const routeError =
  (allowedMethods: (url: string) => string[]): Guard =>
  ({ raw, method }) => {
    const methods = allowedMethods(raw.url as string)
    if (methods.length === 0) return new ContractError('noSuchPath', 'no such path')
    return new ContractError('noSuchMethod', `this path does not support ${method}`, { allow: methods.join(', ') })
  }

/**
 * Rejects a request without a route. Fastify's router lets a path parameter be empty, but the path `/x/` is not one of
 * `/x/{a}`.
 */
export function checkRoute(allowedMethods: (url: string) => string[]): Guard {
  const errorOf = routeError(allowedMethods)
  return (request, reply) => {
    const { params } = request
    let isServed = !request.is404
    for (const name in params as object) if ((params as Record<string, string>)[name] === '') isServed = false
    return isServed ? undefined : errorOf(request, reply)
  }
}

/** Makes Node.js pass on requests with an `Expect` header, instead of responding to them itself. */
export function disableNodeExpectHandling(app: FastifyInstance<Server>): void {
  for (const event of ['checkContinue', 'checkExpectation']) {
    app.server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      app.server.emit('request', request, response)
    })
  }
}

/** The bodies that an operation accepts. */
type ExpectedBody = {
  mediaTypes: string[]
  isRequired: boolean
  /** Whether the operation declares the header Content-Encoding, and gets the body as it was sent. */
  allowsEncoding?: boolean
  /** Returns whether a Content-Type is accepted. */
  accepts(given: string | undefined, request: IncomingMessage): boolean
  /** Returns whether an announced length of 0 is an empty body, and not an absent one. */
  isEmptyBody?(headers: IncomingHttpHeaders): boolean
}

const contentRejectionKey = Symbol('rejection of content')

type MaybeEmpty = IncomingMessage & { [contentRejectionKey]?: ContractError }

/** Returns the error for a request if its chunked body is not empty; undefined if the body is accepted. */
export const contentRejection = (request: MaybeEmpty): ContractError | undefined => request[contentRejectionKey]

/**
 * Ignores the Content-Type of a request without content, which it cannot describe (RFC 9110 sections 6.4 and 8.3): for
 * Fastify it would announce a body. A Content-Type that Fastify cannot parse is ignored, too: only the end of a chunked
 * body shows whether it is empty, and other content without a media type is rejected.
 */
export const ignoreContentType: Guard = ({ headers, raw }) => {
  const given = headers['content-type']
  if (given !== undefined && (hasNoContent(headers) || parseContentType(given) === undefined))
    delete raw.headers['content-type']
  return undefined
}

/**
 * Returns a guard that rejects an unlisted Content-Type with 415, and a Content-Encoding that the operation does not
 * declare. Fastify would accept such a body without validation, since it has no schema for it.
 */
export const checkMediaType =
  (expected: ExpectedBody): Guard =>
  (request, reply) => {
    const { headers, raw } = request
    if (!expected.isRequired && hasNoContent(headers) && expected.isEmptyBody?.(headers) !== true)
      return ignoreContentType(request, reply)
    const rejection = mediaTypeError(expected, request)
    // A client that waits for 100 Continue learns at once that it need not send its body.
    const mayBeEmpty =
      !expected.isRequired && headers['transfer-encoding'] !== undefined && headers.expect === undefined
    if (rejection === undefined || !mayBeEmpty) return rejection
    const maybeEmpty: MaybeEmpty = raw
    maybeEmpty[contentRejectionKey] = rejection
    delete raw.headers['content-type']
    return undefined
  }

function mediaTypeError(
  { mediaTypes, allowsEncoding = false, accepts }: ExpectedBody,
  { headers, raw }: FastifyRequest,
): ContractError | undefined {
  const given = headers['content-type']
  if (!accepts(given, raw)) {
    const charset = given !== undefined && /;[ \t]*charset=/i.test(given) ? ', with no charset but utf-8' : ''
    const message = `the media type must be ${mediaTypes.join(' or ')}${charset}`
    return new ContractError('unsupportedMediaType', message, { accept: mediaTypes.join(', ') })
  }
  if (headers['content-encoding'] === undefined || allowsEncoding) return undefined
  const message = 'the body must have no content encoding'
  return new ContractError('unsupportedEncoding', message, { 'accept-encoding': 'identity' })
}

/**
 * Sends 100 Continue to a client that waits for it, unless the announced body is too large (RFC 9110 section 10.1.1).
 */
export const sendContinue: Guard = (request, reply) => {
  const { headers, raw } = request
  if (headers.expect === undefined || raw.httpVersion !== '1.1') return undefined
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
    assignRequestId(request, reply)
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
