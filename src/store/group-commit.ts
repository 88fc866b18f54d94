import { channel } from 'node:diagnostics_channel'
import { performance } from 'node:perf_hooks'
import { Unavailable } from './unavailable.ts'

/** Told of each batch once it has its outcome: its items, milliseconds, and the items that wait then. */
export type BatchMessage = { size: number; duration: number; queued: number }

const batches = channel('plant-store:batch')

/**
 * So many that wait are not kept for the next turn of the event loop: while more than 1,024 connections have something
 * to read, libuv reads from up to 48 times as many before that turn comes.
 */
const crowd = 64

type Options<Item> = {
  /** The bytes that an item may hold in memory; so batch and queue are bounded, many small items or few large ones. */
  sizeOf(item: Item): number
  /** A batch ends with the item that reaches this size. */
  batchBytes?: number
  /** The most items of a batch. */
  batchItems?: number
  /** What is taken and has no outcome yet is no larger; then items are refused. */
  queueBytes?: number
  /** Batches under way at once. */
  outstanding?: number
  /** Whether no batch is told of. */
  quiet?: boolean
}

export type GroupCommit<Item, Outcome> = {
  /** Resolves with the outcome of the item's own commit; rejects with its error, or `Unavailable` when the queue is full. */
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
 * Commits together what arrives while earlier commits are under way, in the order of arrival. `commit` takes a batch
 * and gives an outcome for each item, or rejects with nothing kept or not known to be: `Unavailable` then goes to all
 * that wait, after any other error each item of the batch is tried alone, so that only the one to blame gets it.
 */
export function groupCommit<Item, Outcome>(
  commit: (batch: Item[]) => Promise<Outcome[]>,
  { sizeOf, batchBytes = 2 ** 20, batchItems = Infinity, queueBytes = 2 ** 26, outstanding = 2, quiet }: Options<Item>,
): GroupCommit<Item, Outcome> {
  const queue: Waiting<Item, Outcome>[] = []
  let held = 0
  let running = 0
  let armed = false
  let closed = false
  const whenIdle: (() => void)[] = []

  /** One turn of the event loop, never a timer: whatever arrives together goes together, and a lone item at once. */
  function arm(): void {
    if (armed || running >= outstanding || queue.length === 0) return
    armed = true
    setImmediate(() => {
      armed = false
      // A crowd may have started a batch meanwhile.
      if (queue.length > 0 && running < outstanding) void run(take())
      arm()
    })
  }

  function take(): Waiting<Item, Outcome>[] {
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
    if (batches.hasSubscribers && !quiet) {
      const duration = performance.now() - started
      batches.publish({ size: batch.length, duration, queued: queue.length } satisfies BatchMessage)
    }
    arm()
    if (held === 0) for (const resolve of whenIdle.splice(0)) resolve()
  }

  /** Returns the reason when the store does not answer; the waiting items are then not tried. */
  async function attempt(batch: Waiting<Item, Outcome>[]): Promise<Unavailable | undefined> {
    try {
      const outcomes = await commit(batch.map(({ item }) => item))
      for (const [index, waiting] of batch.entries()) settle(waiting).resolve(outcomes[index] as Outcome)
    } catch (error) {
      if (error instanceof Unavailable) {
        refuse([...batch, ...queue.splice(0)], error)
        return error
      }
      if (batch.length === 1) refuse(batch, error)
      else await attemptEach([...batch])
    }
    return undefined
  }

  async function attemptEach(left: Waiting<Item, Outcome>[]): Promise<void> {
    while (left.length > 0) {
      const reason = await attempt(left.splice(0, 1))
      if (reason !== undefined) refuse(left.splice(0), reason)
    }
  }

  function refuse(refused: Waiting<Item, Outcome>[], error: unknown): void {
    for (const waiting of refused) settle(waiting).reject(error)
  }

  function settle(waiting: Waiting<Item, Outcome>): Waiting<Item, Outcome> {
    held -= waiting.size
    return waiting
  }

  return {
    submit(item) {
      return new Promise((resolve, reject) => {
        if (closed) throw new Error('the store is closed')
        const size = sizeOf(item)
        if (held > 0 && held + size > queueBytes) throw new Unavailable('too much waits for the store')
        held += size
        queue.push({ item, size, resolve, reject })
        if (queue.length >= crowd && running < outstanding) void run(take())
        else arm()
      })
    },
    close() {
      closed = true
      return new Promise((resolve) => {
        if (held === 0) resolve()
        else whenIdle.push(resolve)
      })
    },
  }
}
