import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Hook } from './request-guards.ts'

/** The signals that end a request or response stream. */
export type StreamScope = {
  /** For the handler: aborts when the client disconnects, the handler times out, or the service is shutting down. */
  signal: AbortSignal
  /** Aborts when the connection closes. */
  gone: AbortSignal
}

type Opened = StreamScope & { abort(reason: Error): void }

const key = Symbol('stream scope')

type Request = IncomingMessage & { [key]?: Opened }

/** The signals of handlers that have timed out. Their reason may be an earlier disconnect or shutdown. */
const late = new WeakSet<AbortSignal>()

const abortError = (message: string): Error => new DOMException(message, 'AbortError')

/**
 * Returns the hook that opens a stream scope for a request. With `endsAtShutdown`, shutdown aborts the handler's
 * signal.
 */
export type OpenScopes = (endsAtShutdown: boolean) => Hook

/**
 * Returns a factory of hooks that open stream scopes. Call it before trackConnections: at shutdown the streams must be
 * aborted before the app waits for its connections to close.
 */
export function openStreamScopes(app: FastifyInstance): OpenScopes {
  const open = new Set<Opened>()
  let isClosing = false
  const shutdown = abortError('the service is shutting down')
  app.addHook('preClose', (done) => {
    isClosing = true
    for (const { abort } of open) abort(shutdown)
    done()
  })
  return (endsAtShutdown) =>
    ({ raw }, reply, done) => {
      const handler = new AbortController()
      const client = new AbortController()
      const abort = (reason: Error) => handler.abort(reason)
      const scope = { signal: handler.signal, gone: client.signal, abort }
      ;(raw as Request)[key] = scope
      if (endsAtShutdown) open.add(scope)
      const close = () => {
        open.delete(scope)
        const reason = abortError('the connection is closed')
        client.abort(reason)
        if (!reply.raw.writableFinished) handler.abort(reason)
      }
      // The connection may have closed during an earlier asynchronous hook.
      if (reply.raw.destroyed) close()
      else reply.raw.once('close', close)
      if (isClosing && endsAtShutdown) abort(shutdown)
      done()
    }
}

/** Returns the stream scope of a request, which the hook of its route has opened. */
export const streamScope = (request: IncomingMessage): StreamScope => (request as Request)[key] as Opened

/** Aborts the handler's signal after its timeout, if the request has a stream scope. */
export function abortStream(request: IncomingMessage): void {
  const scope = (request as Request)[key]
  if (scope === undefined) return
  late.add(scope.signal)
  scope.abort(abortError('the handler took too long'))
}

/** Returns whether the handler of a signal has timed out. */
export const isLate = (signal: AbortSignal): boolean => late.has(signal)
