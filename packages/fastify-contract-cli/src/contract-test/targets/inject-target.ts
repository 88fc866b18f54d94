import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import inject from 'light-my-request'
import type { Target, TestRequest, TestResponse } from '../exchange.ts'
import { readBody, responseHeaders } from './read-response.ts'
import { checkSendable } from './sendable-request.ts'
import { cutOff, defaultTargetLimits, late, TargetError, type TargetLimits } from './target-error.ts'
import { urlTarget } from './url-target.ts'

/** The members of a Fastify instance that a target needs. Each version and each type of instance has them. */
export type FastifyApp = {
  ready(): PromiseLike<unknown>
  routing(request: IncomingMessage, response: ServerResponse): void
  listen(options: { host: string; port: number }): PromiseLike<string>
  server: { readonly listening: boolean; address(): unknown; close(): unknown; closeAllConnections(): void }
}

export type InjectTargetOptions = {
  limits?: Partial<Pick<TargetLimits, 'time' | 'bytes'>>
  /** What precedes the path of each request, such as the prefix of the plugin that serves the operations. */
  prefix?: string | undefined
  /** The address of the client. Default: another one of 127.0.0.0/8 for each request. */
  remoteAddress?: string
  /**
   * Lets the application listen on a free port of 127.0.0.1 for requests that are cut off, which only a connection can
   * carry, unless it listens already. If it cannot listen, none is sent. Default: false, so `sendCut` is undefined.
   */
  listen?: boolean
}

/**
 * Returns a target for a Fastify application in this process. Requests reach the router without a port and without an
 * HTTP parser, so what the parser rejects is not tested. They have the form that HTTP/1.1 can carry, and each comes from
 * an address of its own, so that limits by address do not reject them. The caller closes the application.
 */
export function injectTarget(app: FastifyApp, options: InjectTargetOptions = {}): Target {
  const { prefix = '', remoteAddress, listen = false } = options
  const limits = { ...defaultTargetLimits, ...options.limits }
  const sentTarget = ({ target }: TestRequest): string => prefix + target
  const withPrefix = (request: TestRequest): TestRequest => ({ ...request, target: sentTarget(request) })
  let sent = 0
  let listener: Promise<Target | undefined> | undefined

  const dispatch = (request: TestRequest): Promise<TestResponse> =>
    new Promise(function injectRequest(resolve, reject) {
      const { method, target, headers, body } = request
      const started = performance.now()
      let outgoing: ServerResponse | undefined
      const timer = setTimeout(() => fail(late(limits.time)), limits.time)
      const fail = (error: Error) => {
        clearTimeout(timer)
        reject(error)
        outgoing?.destroy()
      }
      // inject would normalize the target, and the case of the method.
      const route: RequestListener = function routeRequest(incoming, response) {
        outgoing = response
        Object.assign(incoming, { method, url: target })
        if (headers['user-agent'] === undefined) removeUserAgent(incoming)
        app.routing(incoming, response)
      }
      inject(route, {
        // A response reads the method of HEAD when it is created.
        method,
        validate: false,
        url: '/',
        headers,
        remoteAddress: remoteAddress ?? loopbackAddress(sent++),
        payloadAsStream: true,
        ...(body !== undefined && { payload: Buffer.from(body.buffer, body.byteOffset, body.length) }),
      }).then(
        ({ statusCode, headers, stream }) =>
          readBody(stream(), limits.bytes, fail, function finish(body) {
            clearTimeout(timer)
            const response = { status: statusCode, headers: responseHeaders(headers), body }
            const problem = framingProblem(method, response)
            if (problem !== undefined) return reject(new TargetError('broken', problem))
            resolve({ ...response, milliseconds: performance.now() - started })
          }),
        (error) => fail(cutOff(error)),
      )
    })

  const cut = async (request: TestRequest, length: number) => {
    listener ??= listeningTarget(app, limits)
    await (await listener)?.sendCut?.(withPrefix(request), length)
  }

  return {
    name: 'the application in this process',
    sentTarget,
    async send(request) {
      const prefixed = withPrefix(request)
      checkSendable(prefixed)
      await app.ready()
      return await dispatch(prefixed)
    },
    sendCut: listen ? cut : undefined,
    async close() {
      await (await listener)?.close()
    },
  }
}

/**
 * Returns a target for the listener of an application, or lets it listen. Closing the target ends only a listener of its
 * own, and leaves the application usable. Returns undefined if the application cannot listen.
 */
async function listeningTarget(app: FastifyApp, limits: TargetLimits): Promise<Target | undefined> {
  if (app.server.listening) {
    const url = urlOf(app.server.address() as AddressInfo | string)
    return url === undefined ? undefined : urlTarget(url, { limits })
  }
  const url = await app.listen({ host: '127.0.0.1', port: 0 }).then(
    (listening) => listening,
    // Fastify listens only once, so an earlier test may have used that up.
    () => undefined,
  )
  if (url === undefined) return undefined
  const target = urlTarget(url, { limits })
  return {
    ...target,
    async close() {
      await target.close()
      app.server.close()
      app.server.closeAllConnections()
    },
  }
}

/** The addresses that reach a listener of all addresses. */
const loopbackOf: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Returns the URL of a listener; undefined for a Unix socket. */
function urlOf(address: AddressInfo | string): string | undefined {
  if (typeof address === 'string') return undefined
  const host = loopbackOf[address.address] ?? address.address
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`
}

/** Returns a loopback address for a number: 127.0.0.1 for 0, and the next ones for the following. */
function loopbackAddress(index: number): string {
  const host = (index % 0xfffffe) + 1
  return `127.${host >> 16}.${(host >> 8) & 0xff}.${host & 0xff}`
}

/** Removes the header that inject adds. */
function removeUserAgent({ headers, rawHeaders }: IncomingMessage): void {
  delete headers['user-agent']
  const index = rawHeaders.indexOf('user-agent')
  rawHeaders.splice(index, 2)
}

/** Returns why a response cannot be framed: its length is not that of its body (RFC 9112 section 6.2). */
function framingProblem(method: string, { status, headers, body }: Omit<TestResponse, 'milliseconds'>) {
  const length = headers['content-length']
  if (length === undefined || method === 'HEAD' || status === 304 || Number(length) === body.length) return undefined
  return `the response has Content-Length ${length}, but its body has ${body.length} bytes`
}
