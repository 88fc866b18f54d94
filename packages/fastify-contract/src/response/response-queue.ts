import { AsyncResource } from 'node:async_hooks'
import { performance } from 'node:perf_hooks'

/**
 * The maximum number of queued responses. libuv reads from all readable connections in one turn of the event loop, so
 * a longer queue would keep the objects of many requests alive until the garbage collector copies them.
 */
const maxQueued = 64

/** A queued response and the async context of its request. */
type Queued = { send: () => void; context: AsyncResource }

/** How many turns the event loop has had, and how many events in all of them. */
type LoopCounts = { loopCount: number; events: number }

/**
 * Returns a function that sends the responses of one process. If the event loop had several events in a turn, a response
 * is queued until the end of the turn, or until 64 are queued: writing after all reads costs less, since a write between
 * two reads costs a fifth more. Otherwise there is nothing to wait for, and a response is sent at once.
 */
export function responseQueue(
  counts: () => LoopCounts = () => performance.nodeTiming.uvMetricsInfo,
): (send: () => void) => void {
  let queue: Queued[] = []
  let isArmed = false
  let last: LoopCounts = { loopCount: 0, events: 0 }
  const flush = () => {
    const responses = queue
    queue = []
    // In the context of another request, hooks and streams would read its AsyncLocalStorage.
    for (const { send, context } of responses) context.runInAsyncScope(send)
  }
  const flushAtEndOfTurn = () => {
    isArmed = false
    flush()
  }
  return sendQueued

  function sendQueued(send: () => void): void {
    const now = counts()
    const turns = now.loopCount - last.loopCount
    const isAlone = turns > 0 && now.events - last.events <= turns
    last = now
    if (isAlone) send()
    else if (queue.push({ send, context: new AsyncResource('QueuedResponse') }) === maxQueued) flush()
    else if (!isArmed) {
      isArmed = true
      setImmediate(flushAtEndOfTurn)
    }
  }
}
