import { performance } from 'node:perf_hooks'

/** Returns the name of the table of keys. Throws for a name that would need quotes in SQL. */
export function tableName(given = 'idempotency_keys'): string {
  if (!/^[a-z_][a-z0-9_]{0,54}$/.test(given))
    throw new Error(`the table of the idempotency keys is ${given}; use lower-case letters, digits and underscores`)
  return given
}

/** Milliseconds between two counts while a store is full. */
const fullInterval = 1_000

/**
 * Returns a function that calls `run` at its first call, after each `every` further calls, every second while the store
 * is full, and when it is due for another reason.
 */
export function everyFew<Result>(
  every: number,
  run: () => Result,
): (isFull: boolean, isDue?: boolean) => Result | undefined {
  let calls = 0
  let last = 0
  return function callSometimes(isFull, isDue = false) {
    const time = performance.now()
    if (calls++ % every !== 0 && !isDue && !(isFull && time - last >= fullInterval)) return undefined
    last = time
    return run()
  }
}

/**
 * Returns functions that count all rows again, which would cost more than a claim, only after a process has added 1 % of
 * the keys or of the bytes that the limits allow. So each process exceeds them by little more than that.
 */
export function sizeMeter<Result>({ keys, bytes }: { keys: number; bytes: number }, measure: () => Result) {
  let added = 0
  const measureSometimes = everyFew(Math.max(1, Math.floor(keys / 100)), function measureNow() {
    added = 0
    return measure()
  })
  return {
    /** Measures if that is due. */
    measure: (isFull: boolean): Result | undefined => measureSometimes(isFull, added > bytes / 100),
    /** Notes a response that is kept. */
    add(response: Uint8Array): void {
      added += response.length
    },
  }
}
