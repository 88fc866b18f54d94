import { channel } from 'node:diagnostics_channel'
import { performance } from 'node:perf_hooks'
import { type CreateOutcome, type StoredPlant, Unavailable } from './plant-store.ts'

/** Published for each finished batch: its number of items, its milliseconds, and the number of items in the queue. */
export type BatchMessage = { size: number; duration: number; queued: number }

const batches = channel('plant-store:batch')

/**
 * Queue length at which a batch starts without waiting for the next turn of the event loop. With more than 1,024
 * busy connections, libuv (uv__io_poll) handles up to 48 x 1,024 events before that turn.
 */
const longQueue = 64

type Options<Item> = {
  /** Returns the most bytes of memory that an item takes, at least 1. They bound batches and the queue. */
  sizeOf(item: Item): number
  /** Bytes: a batch ends with the item that reaches this size. */
  batchBytes?: number
  /** The most items of a batch. */
  batchItems?: number
  /** The most bytes of items without an outcome; further items are rejected. A lone item may be larger. */
  queueBytes?: number
  /** The most batches in flight. */
  maxInFlight?: number
  /** Whether `Unavailable` also rejects the queue; default true. */
  rejectsQueue?: boolean
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
 * Commits items in batches: the items that arrive while earlier commits are in flight form the next batch. Batches are
 * formed in the order of arrival, but the order of their commits is undefined, because up to `maxInFlight` run at a time.
 * `commit` resolves with one outcome for each item of a batch. It rejects when the batch was not committed, or when the
 * outcome is unknown. `Unavailable` rejects the batch and the queue. After any other error each item of the batch is
 * committed alone, so that only the faulty item gets the error.
 */
export function groupCommit<Item, Outcome>(
  commit: (batch: Item[]) => Promise<Outcome[]>,
  {
    sizeOf,
    batchBytes = 2 ** 20,
    batchItems = Infinity,
    queueBytes = 2 ** 26,
    maxInFlight = 2,
    rejectsQueue = true,
  }: Options<Item>,
): GroupCommit<Item, Outcome> {
  const queue: Waiting<Item, Outcome>[] = []
  let heldBytes = 0
  let inFlight = 0
  let isScheduled = false
  let closed = false
  const whenIdle: (() => void)[] = []

  /** Starts a batch in the next turn of the event loop, not after a timer, so that a lone item is not delayed. */
  function scheduleBatch(): void {
    if (isScheduled || inFlight >= maxInFlight || queue.length === 0) return
    isScheduled = true
    setImmediate(startBatch)
  }

  function startBatch(): void {
    isScheduled = false
    // A long queue may have started a batch meanwhile.
    if (queue.length > 0 && inFlight < maxInFlight) void run(nextBatch())
    scheduleBatch()
  }

  function nextBatch(): Waiting<Item, Outcome>[] {
    let [count, bytes] = [0, 0]
    for (const { size } of queue) {
      if (count === batchItems || bytes >= batchBytes) break
      count++
      bytes += size
    }
    return queue.splice(0, count)
  }

  async function run(batch: Waiting<Item, Outcome>[]): Promise<void> {
    inFlight++
    const started = performance.now()
    await attempt(batch)
    inFlight--
    if (batches.hasSubscribers) {
      const duration = performance.now() - started
      batches.publish({ size: batch.length, duration, queued: queue.length } satisfies BatchMessage)
    }
    scheduleBatch()
    if (heldBytes === 0) for (const resolve of whenIdle.splice(0)) resolve()
  }

  /** Commits a batch and settles its items. Returns the error when the store is unavailable. */
  async function attempt(batch: Waiting<Item, Outcome>[]): Promise<Unavailable | undefined> {
    try {
      const outcomes = await commit(batch.map(({ item }) => item))
      for (const [index, { size, resolve }] of batch.entries()) {
        heldBytes -= size
        resolve(outcomes[index] as Outcome)
      }
    } catch (error) {
      if (error instanceof Unavailable) {
        rejectAll(rejectsQueue ? [...batch, ...queue.splice(0)] : batch, error)
        return error
      }
      if (batch.length === 1) rejectAll(batch, error)
      else await attemptEach(batch)
    }
    return undefined
  }

  async function attemptEach(batch: Waiting<Item, Outcome>[]): Promise<void> {
    for (const [index, waiting] of batch.entries()) {
      const error = await attempt([waiting])
      if (error !== undefined) return rejectAll(batch.slice(index + 1), error)
    }
  }

  function rejectAll(rejected: Waiting<Item, Outcome>[], error: unknown): void {
    for (const { size, reject } of rejected) {
      heldBytes -= size
      reject(error)
    }
  }

  return {
    submit(item) {
      return new Promise(function enqueue(resolve, reject) {
        if (closed) throw new Error('the store is closed')
        const size = sizeOf(item)
        if (heldBytes > 0 && heldBytes + size > queueBytes) throw new Unavailable('the queue of the store is full')
        heldBytes += size
        queue.push({ item, size, resolve, reject })
        if (queue.length >= longQueue && inFlight < maxInFlight) void run(nextBatch())
        else scheduleBatch()
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

/** Returns a group commit of plants. A plant takes two bytes a character, and up to 1 KiB for the objects around it. */
export const groupPlantCommits = (
  commit: (batch: StoredPlant[]) => Promise<CreateOutcome[]>,
  options: Omit<Options<StoredPlant>, 'sizeOf'> = {},
) =>
  groupCommit(commit, {
    sizeOf: ({ name, tag = '' }: StoredPlant) => 1_024 + 2 * (name.length + tag.length),
    ...options,
  })
