import type { FastifyInstance, FastifyReply } from 'fastify'
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
  /** Milliseconds for which shutdown waits for handlers without a connection. */
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
  const track = trackHandlers(app, handlerTime)
  return (parts) => (hasKeys(parts.operation) ? keyedOperation({ ...parts, writeError, track }, given) : undefined)
}

/**
 * Returns a function that tracks handlers. Shutdown waits for those whose client has gone or got a 503, because their
 * response is still to be kept; it waits for the others with their connections.
 */
function trackHandlers(app: FastifyInstance, milliseconds: number): TrackHandler {
  const running = new Map<Promise<unknown>, FastifyReply>()
  app.addHook('preClose', async function waitForHandlers() {
    const abandoned = [...running].filter(([, { raw }]) => raw.destroyed || raw.writableEnded).map(([ended]) => ended)
    if (abandoned.length === 0) return
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise((resolve) => {
      timer = setTimeout(resolve, milliseconds)
    })
    await Promise.race([Promise.allSettled(abandoned), timeout])
    clearTimeout(timer)
  })
  return function track(reply, ended) {
    running.set(ended, reply)
    const forget = () => running.delete(ended)
    ended.then(forget, forget)
  }
}
