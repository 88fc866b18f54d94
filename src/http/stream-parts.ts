/** Bytes of a body as a handler gives them in parts: a stream of Node's, one of the web, or a generator. */
export type ByteStream = AsyncIterable<Uint8Array>

/** A source that may be told to end. */
type Source<Item> = AsyncIterable<Item> & { destroy?(): void }

type Settled<Item> = { result: IteratorResult<Item> } | { error: unknown }

/** How the items of a source become parts of a body. */
export type Parts<Item> = {
  /** Returns the bytes of an item; throws for one that must not leave. */
  write(item: Item): Uint8Array | string
  /** Ends the parts, whatever the source still has. */
  end: AbortSignal
  /** What is written whenever the source has been silent for so many milliseconds: at first `opening`, then `time`. */
  keepAlive?: { opening: number; time: number; text: string }
}

/**
 * Returns the written items of a source, each asked for when the one before has been taken: no more than one is held. The
 * source is ended when it is read no further.
 */
export async function* streamParts<Item>(source: Source<Item>, { write, end, keepAlive }: Parts<Item>) {
  const iterator = source[Symbol.asyncIterator]()
  let settled: Settled<Item> | undefined
  let wake!: () => void
  let silence = keepAlive?.opening
  const settle = (value: Settled<Item>) => {
    settled = value
    wake()
  }
  // A promise that all items wait for would hold a reaction for each of them.
  const stop = () => wake()
  end.addEventListener('abort', stop)
  try {
    while (!end.aborted) {
      settled = undefined
      iterator.next().then(
        (result) => settle({ result }),
        (error) => settle({ error }),
      )
      const next = yield* settledOf()
      if (next === undefined) return
      if ('error' in next) throw next.error
      if (next.result.done === true) return
      yield write(next.result.value)
    }
  } finally {
    end.removeEventListener('abort', stop)
    endSource(source, iterator)
  }

  /** Waits for the item, and keeps the connection alive meanwhile; undefined at the end. */
  async function* settledOf(): AsyncGenerator<string, Settled<Item> | undefined> {
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

/** Ends a source that is read no further, and ignores errors of its cleanup. */
export function endSource(source: Source<unknown>, iterator = source[Symbol.asyncIterator]()): void {
  if (typeof source.destroy === 'function') source.destroy()
  else iterator.return?.().then(undefined, () => {})
}
