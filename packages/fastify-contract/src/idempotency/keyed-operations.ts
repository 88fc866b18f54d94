import type { FastifyInstance } from 'fastify'
import type { Operation } from '../contract/routes.ts'
import type { WriteError } from '../http/request-context.ts'
import {
  hasKeys,
  type IdempotencyOptions,
  type KeyedOperation,
  type KeyedParts,
  keyedOperation,
  type TrackHandler,
} from './keyed-operation.ts'
import { memoryKeys } from './memory-keys.ts'

type Context = {
  operations: Operation[]
  writeError: WriteError
  /** Milliseconds for which shutdown waits for handlers after all connections are closed. */
  handlerTime: number
}

/** Returns what an operation with idempotency keys has beside the others; undefined for an operation without. */
export type KeyedOperations = (parts: KeyedParts) => KeyedOperation | undefined

/**
 * Returns a function that adds idempotency keys to the operations that declare them, unless the options are false.
 * Without options, the keys are in the memory of this process, which the log says.
 */
export function keyedOperations(
  app: FastifyInstance,
  options: IdempotencyOptions | false | undefined,
  { operations, writeError, handlerTime }: Context,
): KeyedOperations {
  const ids = operations.filter(hasKeys).map(({ operationId }) => operationId)
  if (options === false || ids.length === 0) return () => undefined
  const problem = 'idempotency keys are in the memory of this process only; pass the option idempotency'
  if (options === undefined) app.log.warn({ operations: ids }, problem)
  const given = options ?? { store: memoryKeys() }
  const { prefix } = app
  const track = trackHandlers(app, handlerTime)
  return (parts) =>
    hasKeys(parts.operation) ? keyedOperation({ ...parts, prefix, writeError, track }, given) : undefined
}

/** The running handlers of a server, and the milliseconds for which its shutdown waits for them. */
type Tracked = { running: Set<Promise<unknown>>; milliseconds: number }

/** The handlers of each server, which may serve several documents. */
const trackedBy = new WeakMap<object, Tracked>()

/**
 * Returns a function that tracks handlers. Shutdown first waits for the connections, then for the handlers whose client
 * has gone or got a 503, because their response is still to be kept.
 */
function trackHandlers({ server }: FastifyInstance, milliseconds: number): TrackHandler {
  const tracked = trackedBy.get(server) ?? trackServer(server)
  const { running } = tracked
  tracked.milliseconds = Math.max(tracked.milliseconds, milliseconds)
  return function track(ended) {
    running.add(ended)
    const forget = () => running.delete(ended)
    ended.then(forget, forget)
  }
}

/** Makes the close of a server wait for the handlers that are tracked. */
function trackServer(server: FastifyInstance['server']): Tracked {
  const tracked: Tracked = { running: new Set(), milliseconds: 0 }
  // A preClose hook would run before the last requests, and Fastify fails if it takes longer than pluginTimeout.
  const close = server.close
  server.close = function closeAfterHandlers(callback) {
    return close.call(server, function waitForHandlers(error) {
      allEnded(tracked.running, tracked.milliseconds).then(() => callback?.(error))
    })
  }
  trackedBy.set(server, tracked)
  return tracked
}

/** Waits until a set of promises is empty, but not longer than the given time. */
async function allEnded(running: ReadonlySet<Promise<unknown>>, milliseconds: number): Promise<void> {
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>(function startTimer(resolve) {
    timer = setTimeout(function end() {
      isOver = true
      resolve()
    }, milliseconds)
  })
  while (running.size > 0 && !isOver) await Promise.race([Promise.allSettled(running), timeout])
  clearTimeout(timer)
}
