import { channel } from 'node:diagnostics_channel'
import { performance } from 'node:perf_hooks'
import { type CreateOutcome, type StoredPlant, Unavailable } from './plant-store.ts'

/** Published for each finished batch: its number of items, its milliseconds, and the number of items in the queue. */
export type BatchMessage = { size: number; duration: number; queued: number }

const batches = channel('plant-store:batch')

/**
 * Queue length at which a batch starts without waiting for the next turn of the event loop. With more than 1,024
 * busy connections, libuv can read up to 48 x 1,024 connections before that turn.
 */
const longQueue = 64

type Options<Item> = {
  /** Returns the most bytes of memory that an item takes. They bound batches and the queue. */
  sizeOf(item: Item): number
  /** Bytes: a batch ends with the item that reaches this size. */
  batchBytes?: number
  /** The most items of a batch. */
  batchItems?: number
  /** The most bytes of items without an outcome; further items are rejected. A lone item may be larger. */
  queueBytes?: number
  /** The most batches in flight. */
  outstanding?: number
}

export type GroupCommit<Item, Outcome> = {
  /**
   * Resolves with the item's outcome, once its batch is committed. Rejects with the item's error, with `Unavailable` if
   * the queue is full, or with an error after `close`.
   */
  submit(item: Item): Promise<Outcome>
  /** Rejects new items and resolves when every pending one has its outcome. */
  close(): Promise<void>
}

type Waiting<Item, Outcome> = {
  item: Item
  size: number
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

/**
 * Commits items in batches, in the order of arrival: the items that arrive while earlier commits are in flight form the
 * next batch. `commit` resolves with one outcome for each item of a batch. It rejects when the batch was not committed,
 * or when the outcome is unknown. `Unavailable` rejects the batch and the queue. After any other error each item of the
 * batch is committed alone, so that only the faulty item gets the error.
 */
export function groupCommit<Item, Outcome>(
  commit: (batch: Item[]) => Promise<Outcome[]>,
  { sizeOf, batchBytes = 2 ** 20, batchItems = Infinity, queueBytes = 2 ** 26, outstanding = 2 }: Options<Item>,
): GroupCommit<Item, Outcome> {
  const queue: Waiting<Item, Outcome>[] = []
  let heldBytes = 0
  let running = 0
  let armed = false
  let closed = false
  const whenIdle: (() => void)[] = []

  /** Starts a batch in the next turn of the event loop, not after a timer, so that a lone item is not delayed. */
  function arm(): void {
    if (armed || running >= outstanding || queue.length === 0) return
    armed = true
    setImmediate(() => {
      armed = false
      // A long queue may have started a batch meanwhile.
      if (queue.length > 0 && running < outstanding) void run(nextBatch())
      arm()
    })
  }

  function nextBatch(): Waiting<Item, Outcome>[] {
    let bytes = 0
    const end = queue.findIndex(({ size }, index) => {
      bytes += size
      return bytes >= batchBytes || index === batchItems - 1
    })
    return queue.splice(0, end === -1 ? queue.length : end + 1)
  }

  async function run(batch: Waiting<Item, Outcome>[]): Promise<void> {
    running++
    const started = performance.now()
    await attempt(batch)
    running--
    if (batches.hasSubscribers) {
      const duration = performance.now() - started
      batches.publish({ size: batch.length, duration, queued: queue.length } satisfies BatchMessage)
    }
    arm()
    if (heldBytes === 0) for (const resolve of whenIdle.splice(0)) resolve()
  }

  /** Commits a batch and settles its items. Returns the error when the store is unavailable. */
  async function attempt(batch: Waiting<Item, Outcome>[]): Promise<Unavailable | undefined> {
    try {
      const outcomes = await commit(batch.map(({ item }) => item))
      for (const [index, waiting] of batch.entries()) settle(waiting).resolve(outcomes[index] as Outcome)
    } catch (error) {
      if (error instanceof Unavailable) {
        rejectAll([...batch, ...queue.splice(0)], error)
        return error
      }
      if (batch.length === 1) rejectAll(batch, error)
      else await attemptEach([...batch])
    }
    return undefined
  }

  async function attemptEach(left: Waiting<Item, Outcome>[]): Promise<void> {
    while (left.length > 0) {
      const reason = await attempt(left.splice(0, 1))
      if (reason !== undefined) rejectAll(left.splice(0), reason)
    }
  }

  function rejectAll(rejected: Waiting<Item, Outcome>[], error: unknown): void {
    for (const waiting of rejected) settle(waiting).reject(error)
  }

  function settle(waiting: Waiting<Item, Outcome>): Waiting<Item, Outcome> {
    heldBytes -= waiting.size
    return waiting
  }

  return {
    submit(item) {
      return new Promise((resolve, reject) => {
        if (closed) throw new Error('the store is closed')
        const size = sizeOf(item)
        if (heldBytes > 0 && heldBytes + size > queueBytes) throw new Unavailable('the queue of the store is full')
        heldBytes += size
        queue.push({ item, size, resolve, reject })
        if (queue.length >= longQueue && running < outstanding) void run(nextBatch())
        else arm()
      })
    },
    close() {
      closed = true
      return new Promise((resolve) => {
        if (heldBytes === 0) resolve()
        else whenIdle.push(resolve)
      })
    },
  }
}

/**
 * Returns a group commit of plants with at most `batchItems` plants in a batch. The size of a plant is that of its text
 * and an allowance for the objects around it.
 */
export const groupWrites = (
  commit: (batch: StoredPlant[]) => Promise<CreateOutcome[]>,
  batchItems = Number.POSITIVE_INFINITY,
) =>
  groupCommit(commit, {
    sizeOf: ({ name, tag = '' }: StoredPlant) => 1_024 + 2 * (name.length + tag.length),
    batchItems,
  })
