/**
 * Responses that may wait for the end of a turn of the event loop. While many connections have something to read, libuv
 * reads them all in one turn, and the objects of each waiting request would be copied by the garbage collector.
 */
const mostWaiting = 64

/**
 * Returns a function that queues a response. `send` is called for each queued response at the end of the event loop's turn,
 * or as soon as 64 are queued: writing between two reads costs a fifth more than writing after all of them.
 */
export function responseQueue<Response>(send: (response: Response) => void): (response: Response) => void {
  let queue: Response[] = []
  let armed = false
  const flush = () => {
    const responses = queue
    queue = []
    for (const response of responses) send(response)
  }
  const flushAtEndOfTurn = () => {
    armed = false
    flush()
  }
  return (response) => {
    if (queue.push(response) === mostWaiting) flush()
    else if (!armed) {
      armed = true
      setImmediate(flushAtEndOfTurn)
    }
  }
}
