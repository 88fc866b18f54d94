/** A response body that a handler gives in parts: a Node.js stream, a web stream, or a generator. */
export type ByteStream = AsyncIterable<Uint8Array>

/** A source; Node.js streams have `destroy`. */
type Source<Item> = AsyncIterable<Item> & { destroy?(): void }

type Settled<Item> = { result: IteratorResult<Item> } | { error: unknown }

/** How the items of a source are written as parts of a body. */
export type Parts<Item> = {
  /** Serializes an item. Throws for an item that must not be sent. */
  write(item: Item): Uint8Array | string
  /** Ends the parts, even if the source has more items. */
  end: AbortSignal
  /** Yields `text` when the source is idle: first after `opening` milliseconds, then every `time` milliseconds. */
  keepAlive?: { opening: number; time: number; text: string }
}

/** Milliseconds for which all streams of the process together may occupy the event loop before other work gets a turn. */
const turnTime = 5

/** The turn of the event loop in which streams are read now. It is shared, since many short turns add up to seconds. */
let turn: { end: number; over: Promise<void> } | undefined

/**
 * Returns the end of this turn of the event loop if the streams have used up their time in it. A source that always has
 * an item ready resolves its promises without a turn of the event loop, and so would starve everything else.
 */
function endOfTurn(): Promise<void> | undefined {
  const now = performance.now()
  if (turn !== undefined) return now < turn.end ? undefined : turn.over
  const over = new Promise<void>((resolve) => {
    setImmediate(() => {
      turn = undefined
      resolve()
    })
  })
  turn = { end: now + turnTime, over }
  return undefined
}

/**
 * Yields the written items of a source. It requests an item after the previous one was consumed, so it holds at most
 * one. It ends the source when the reader stops.
 */
export async function* streamParts<Item>(source: Source<Item>, { write, end, keepAlive }: Parts<Item>) {
  const iterator = source[Symbol.asyncIterator]()
  let settled: Settled<Item> | undefined
  let wake = ignore
  let silence = keepAlive?.opening
  const settle = (value: Settled<Item>) => {
    settled = value
    wake()
  }
  // Not a shared promise, because each item that awaits it would leave a reaction in memory.
  const stop = () => wake()
  end.addEventListener('abort', stop)
  try {
    for (;;) {
      for (let over = endOfTurn(); over !== undefined; over = endOfTurn()) await over
      if (end.aborted) return
      settled = undefined
      iterator.next().then(
        (result) => settle({ result }),
        (error) => settle({ error }),
      )
      const next = yield* nextSettled()
      if (next === undefined) return
      if ('error' in next) throw next.error
      if (next.result.done === true) return
      for (let over = endOfTurn(); over !== undefined; over = endOfTurn()) await over
      yield write(next.result.value)
    }
  } finally {
    end.removeEventListener('abort', stop)
    endSource(source, iterator)
  }

  /** Waits for the next item and yields keep-alive texts meanwhile. Returns undefined if the parts have ended. */
  async function* nextSettled(): AsyncGenerator<string, Settled<Item> | undefined> {
    for (;;) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        wake = resolve
        if (keepAlive !== undefined) timer = setTimeout(resolve, silence)
        if (settled !== undefined || end.aborted) resolve()
      })
      clearTimeout(timer)
      silence = keepAlive?.time
      if (end.aborted) return undefined
      if (settled !== undefined) return settled
      if (keepAlive !== undefined) yield keepAlive.text
    }
  }
}

/** Ends a source that is no longer read, and ignores errors of its cleanup. */
export function endSource(source: Source<unknown>, iterator?: AsyncIterator<unknown>): void {
  const end = async () => {
    if (typeof source.destroy === 'function') source.destroy()
    else await (iterator ?? source[Symbol.asyncIterator]()).return?.()
  }
  end().catch(ignore)
}

const ignore = () => {}
