import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Hook } from './request-guards.ts'

/** What ends the answer of a request that may be a stream. */
export type StreamScope = {
  /** For the handler: aborts when the client is gone, the handler's time is over, or the service shuts down. */
  signal: AbortSignal
  /** Aborts when the connection closes. */
  gone: AbortSignal
}

type Opened = StreamScope & { abort(reason: Error): void }

const key = Symbol('stream scope')

type Request = IncomingMessage & { [key]?: Opened }

const tooLate = 'the handler took too long'

const abortError = (message: string): Error => new DOMException(message, 'AbortError')

/** Returns the hook that gives a request a scope for streams. It aborts at a shutdown, unless the stream ends by itself. */
export type OpenScopes = (endsAtShutdown: boolean) => Hook

/**
 * Returns what makes the hooks that give a request a scope for streams. Register it before whatever waits at the shutdown
 * of the app for connections to end.
 */
export function openStreamScopes(app: FastifyInstance): OpenScopes {
  const open = new Set<Opened>()
  let isClosing = false
  const shutdown = abortError('the service shuts down')
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
      // An earlier hook may have waited until the connection was gone.
      if (reply.raw.destroyed) close()
      else reply.raw.once('close', close)
      if (isClosing && endsAtShutdown) abort(shutdown)
      done()
    }
}

/** Returns the scope of a request for streams, which the hook of its route has opened. */
export const streamScope = (request: IncomingMessage): StreamScope => (request as Request)[key] as Opened

/** Aborts the handler of a request whose time is over, where it may give a stream. */
export function abortStream(request: IncomingMessage): void {
  ;(request as Request)[key]?.abort(abortError(tooLate))
}

/** Returns whether a handler's time was over when its signal aborted. */
export const isLate = ({ reason }: AbortSignal): boolean => (reason as Error | undefined)?.message === tooLate
