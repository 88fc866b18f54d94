import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
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
   * carry. Default: false, so `sendCut` is undefined.
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
  const withPrefix = (request: TestRequest): TestRequest => ({ ...request, target: prefix + request.target })
  let sent = 0
  let listener: Promise<Target> | undefined

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
    await (await listener).sendCut?.(withPrefix(request), length)
  }

  return {
    name: 'the application in this process',
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

/** Lets an application listen, and returns a target for the listener. Closing it leaves the application usable. */
async function listeningTarget(app: FastifyApp, limits: TargetLimits): Promise<Target> {
  const target = urlTarget(await app.listen({ host: '127.0.0.1', port: 0 }), { limits })
  return {
    ...target,
    async close() {
      await target.close()
      app.server.close()
      app.server.closeAllConnections()
    },
  }
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
