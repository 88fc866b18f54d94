import { Agent, type ClientRequest, type IncomingMessage, request as openPlain } from 'node:http'
import { request as openEncrypted, Agent as TlsAgent } from 'node:https'
import type { Endpoint } from '../../document/openapi-document.ts'
import { isWithoutContent } from '../checks/documented-response.ts'
import type { Target, TestRequest, TestResponse } from '../exchange.ts'
import { describedFailure } from './connection-failure.ts'
import { readBody, responseHeaders } from './read-response.ts'
import { checkSendable, cutBody } from './sendable-request.ts'
import { defaultTargetLimits, late, type TargetLimits } from './target-error.ts'

export type UrlTargetOptions = {
  limits?: Partial<TargetLimits>
  /** What precedes the path of each request. With it, the path of the URL precedes the prefix, and replaces nothing. */
  prefix?: string | undefined
  /** Certificates of authorities in PEM, instead of those that Node.js trusts. */
  ca?: string
}

/** The maximum number of bytes of the header section of a response. */
const maxHeaderSize = 65_536

/** Milliseconds after which an idle connection is not used again: less than the keep-alive time of common servers. */
const idleTime = 500

/**
 * Returns a target for a running server. It connects to the host of the URL only: it follows no redirect, uses no proxy,
 * and checks the certificate of a server with https. Throws an Error for a URL that is not that of a server.
 *
 * The path of the URL, if it has one, replaces the base path that `servers` of the document names: requests to
 * `http://localhost:3000` have the whole path that the document implies, such as `/v1/pets`, and those to
 * `http://localhost:3000/api` have `/api/pets`.
 *
 * A request is written as given: its method, its target, the case of its headers, and a body with any method. A server may
 * close an idle connection while a request is sent on it; such a request is sent once more, on a new connection, unless a
 * byte of its response came.
 */
export function urlTarget(url: string, { limits: given, prefix, ca }: UrlTargetOptions = {}): Target {
  const server = serverOf(url)
  const limits = { ...defaultTargetLimits, ...given }
  const isEncrypted = server.protocol === 'https:'
  const open = isEncrypted ? openEncrypted : openPlain
  const agent = new (isEncrypted ? TlsAgent : Agent)({
    keepAlive: true,
    maxSockets: limits.connections,
    timeout: idleTime,
  })

  function start(request: TestRequest, agent: Agent | false): ClientRequest {
    const { method, headers, body } = request
    const isFramed = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    return open({
      protocol: server.protocol,
      hostname: server.hostname,
      port: server.port,
      method,
      path: sentTarget(request),
      headers: body === undefined || isFramed ? headers : { ...headers, 'content-length': body.length },
      agent,
      maxHeaderSize,
      ...(ca !== undefined && { ca }),
    })
  }

  function sentTarget({ operation, target }: TestRequest): string {
    const { basePath } = server
    if (prefix !== undefined) return basePath + prefix + target
    return basePath === '' ? target : basePath + withoutBasePath(operation, target)
  }

  function attempt(request: TestRequest, isLast: boolean): Promise<TestResponse> {
    return new Promise(function sendRequest(resolve, reject) {
      const started = performance.now()
      const outgoing = start(request, agent)
      let incoming: IncomingMessage | undefined
      /** The bytes of earlier responses on the connection. */
      let earlierBytes = 0
      const hasNoByte = () => outgoing.socket?.bytesRead === earlierBytes
      const timer = setTimeout(() => fail(late(limits.time)), limits.time)
      const fail = (error: Error) => {
        reject(describedFailure(server.name, error))
        outgoing.destroy()
      }
      const finish = ({ statusCode, headers }: IncomingMessage, body: Uint8Array) =>
        resolve({
          status: statusCode as number,
          headers: responseHeaders(headers),
          body,
          milliseconds: performance.now() - started,
        })
      outgoing
        .on('socket', function count({ bytesRead }) {
          earlierBytes = bytesRead
        })
        .on('close', () => clearTimeout(timer))
        .on('error', function failOrRepeat(error) {
          const rest = incoming && contentAfter(request, incoming, error)
          if (incoming && rest) finish(incoming, rest)
          else if (isStale(outgoing, error) && hasNoByte() && !isLast) resolve(attempt(request, true))
          else fail(error)
        })
        .on('response', function read(response) {
          incoming = response
          readBody(response, limits.bytes, fail, (body) => finish(response, body))
        })
      // After these, the connection has another protocol (RFC 9110 sections 7.8 and 9.3.6).
      for (const event of ['upgrade', 'connect'] as const)
        outgoing.on(event, function endConnection(response, socket) {
          finish(response, new Uint8Array())
          socket.destroy()
        })
      outgoing.end(request.body)
    })
  }

  function cut(request: TestRequest, part: Uint8Array): Promise<void> {
    return new Promise(function sendPart(resolve, reject) {
      const outgoing = start(request, false)
      const timer = setTimeout(() => outgoing.destroy(late(limits.time)), limits.time)
      let isSent = false
      outgoing
        // The server may respond before it has the whole body. Its response does not count.
        .on('response', (response) => response.on('error', () => {}).resume())
        .on('error', (error) => isSent || reject(describedFailure(server.name, error)))
        .on('close', function endConnection() {
          clearTimeout(timer)
          resolve()
        })
      outgoing.flushHeaders()
      outgoing.write(part, function closeConnection() {
        isSent = true
        outgoing.destroy()
      })
    })
  }

  return {
    name: server.name,
    sentTarget,
    async send(request) {
      checkSendable(request)
      return await attempt(request, false)
    },
    async sendCut(request, length) {
      checkSendable(request)
      await cut(request, cutBody(request, length))
    },
    async close() {
      agent.destroy()
    },
  }
}

/** Returns whether a request failed because the server had closed its idle connection. */
const isStale = ({ reusedSocket }: ClientRequest, { code = '' }: NodeJS.ErrnoException): boolean =>
  reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE')

/**
 * Returns the bytes that a server sent as the content of a response that has none, such as one to HEAD; undefined if the
 * error has another cause. A client takes these bytes for the next response.
 */
function contentAfter(
  { method }: TestRequest,
  response: IncomingMessage,
  { code = '', rawPacket, bytesParsed }: NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number },
): Uint8Array | undefined {
  const exchange = { request: { method }, response: { status: response.statusCode as number } }
  if (!response.complete || !code.startsWith('HPE_') || !isWithoutContent(exchange)) return undefined
  return rawPacket?.subarray(bytesParsed)
}

type Server = { name: string; protocol: string; hostname: string; port: string; basePath: string }

/** Returns the parts of a server's URL. An error does not show the URL, which may hold a secret. */
function serverOf(url: string): Server {
  if (!URL.canParse(url))
    throw new Error('the URL of the server is not valid; expected one such as http://localhost:3000')
  const { protocol, hostname, port, origin, pathname, username, password, search, hash } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new Error(`the URL of the server has the scheme ${protocol}; expected http: or https:`)
  if (username !== '' || password !== '')
    throw new Error('the URL of the server has credentials; set them as environment variables instead')
  if (search !== '' || hash !== '') throw new Error('the URL of the server has a query or a fragment; leave it out')
  const basePath = pathname.replace(/\/+$/, '')
  // Only a URL has an IPv6 address in brackets.
  return { name: origin + basePath, protocol, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port, basePath }
}

/** Returns a target without the base path of the first server of its operation, if it begins with that. */
function withoutBasePath({ server }: Endpoint, target: string): string {
  const base = new URL(server).pathname.replace(/\/+$/, '')
  return target.startsWith(`${base}/`) ? target.slice(base.length) : target
}
