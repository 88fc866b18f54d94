import { AsyncResource } from 'node:async_hooks'

/**
 * The maximum number of queued responses. libuv reads from all readable connections in one turn of the event loop, so
 * a longer queue would keep the objects of many requests alive until the garbage collector copies them.
 */
const maxQueued = 64

/** A queued response and the async context of its request. */
type Queued<Response> = { response: Response; context: AsyncResource }

/**
 * Returns a function that queues a response. Calls `send` for each queued response at the end of the event loop's turn,
 * or as soon as 64 are queued. Writing after all reads costs less: a write between two reads costs a fifth more.
 */
export function responseQueue<Response>(send: (response: Response) => void): (response: Response) => void {
  let queue: Queued<Response>[] = []
  let isArmed = false
  const flush = () => {
    const responses = queue
    queue = []
    // In the context of another request, hooks and streams would read its AsyncLocalStorage.
    for (const { response, context } of responses) context.runInAsyncScope(send, undefined, response)
  }
  const flushAtEndOfTurn = () => {
    isArmed = false
    flush()
  }
  return (response) => {
    if (queue.push({ response, context: new AsyncResource('QueuedResponse') }) === maxQueued) flush()
    else if (!isArmed) {
      isArmed = true
      setImmediate(flushAtEndOfTurn)
    }
  }
}
