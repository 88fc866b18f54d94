import type { FastifyInstance } from 'fastify'
import { catchRejection } from './caught-errors.ts'
import { contextOf, type Observer, type RequestContext, recordEnd } from './request-context.ts'
import type { Guard } from './request-guards.ts'

/** Observer that ignores every event. */
const unobserved: Observer = { begin() {}, end() {} }

/** Returns an observer that passes on each event, and logs what the given one throws. */
export function safeObserver(app: FastifyInstance, given = unobserved): Observer {
  const report = (err: unknown) => app.log.error({ err }, 'observer failed')
  // Without a closure for each event: every request has two.
  const caught = (event: keyof Observer) =>
    function observe(context: RequestContext): void {
      try {
        catchRejection(given[event](context), report)
      } catch (thrown) {
        report(thrown)
      }
    }
  return { begin: caught('begin'), end: caught('end') }
}

/** Returns a guard that reports each request to an observer. A server with `trackConnections` does not need it. */
export function observeRequest({ begin, end }: Observer): Guard {
  return function observe({ raw }, reply) {
    const context = contextOf(raw)
    const { raw: response } = reply
    begin(context)
    const finish = () => {
      recordEnd(context, response.headersSent ? response.statusCode : undefined)
      end(context)
    }
    response.once('close', finish)
    return undefined
  }
}
