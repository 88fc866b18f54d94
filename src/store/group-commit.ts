import { Unavailable } from './unavailable.ts'

type Options<Item> = {
  /** The bytes that an item may hold in memory; so batch and queue are bounded, many small items or few large ones. */
  weigh(item: Item): number
  /** A batch ends with the item that reaches this weight. */
  batchWeight?: number
  /** What is taken and has no outcome yet weighs no more; then items are refused. */
  queueWeight?: number
  /** Batches under way at once. */
  outstanding?: number
}

export type GroupCommit<Item, Outcome> = {
  /** Resolves with the outcome of the item's own commit; rejects with its error, or `Unavailable` when the queue is full. */
  submit(item: Item): Promise<Outcome>
  /** Takes nothing more; resolves when everything that was taken has its outcome. */
  close(): Promise<void>
}

type Waiting<Item, Outcome> = {
  item: Item
  weight: number
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
  { weigh, batchWeight = 2 ** 20, queueWeight = 2 ** 26, outstanding = 2 }: Options<Item>,
): GroupCommit<Item, Outcome> {
  let queue: Waiting<Item, Outcome>[] = []
  let held = 0
  let running = 0
  let armed = false
  let closed = false
  const whenIdle: (() => void)[] = []

  /** One turn of the event loop, never a timer: whatever arrives together goes together, and a lone item at once. */
  function arm(): void {
    if (armed || running === outstanding || queue.length === 0) return
    armed = true
    setImmediate(() => {
      armed = false
      if (queue.length > 0) void run(take())
      arm()
    })
  }

  function take(): Waiting<Item, Outcome>[] {
    let weight = 0
    const end = queue.findIndex((waiting) => {
      weight += waiting.weight
      return weight >= batchWeight
    })
    return queue.splice(0, end === -1 ? queue.length : end + 1)
  }

  async function run(batch: Waiting<Item, Outcome>[]): Promise<void> {
    running++
    await attempt(batch)
    running--
    arm()
    if (held === 0) for (const resolve of whenIdle.splice(0)) resolve()
  }

  async function attempt(batch: Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await commit(batch.map(({ item }) => item))
      for (const [index, waiting] of batch.entries()) settle(waiting).resolve(outcomes[index] as Outcome)
    } catch (error) {
      if (error instanceof Unavailable) {
        const waiting = queue
        queue = []
        for (const each of [...batch, ...waiting]) settle(each).reject(error)
      } else if (batch.length === 1) for (const each of batch) settle(each).reject(error)
      else for (const each of batch) await attempt([each])
    }
  }

  function settle(waiting: Waiting<Item, Outcome>): Waiting<Item, Outcome> {
    held -= waiting.weight
    return waiting
  }

  return {
    async submit(item) {
      if (closed) throw new Error('the store is closed')
      const weight = weigh(item)
      if (held > 0 && held + weight > queueWeight) throw new Unavailable('too much waits for the store')
      held += weight
      return await new Promise((resolve, reject) => {
        queue.push({ item, weight, resolve, reject })
        arm()
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
