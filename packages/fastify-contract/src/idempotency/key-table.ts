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
 * Returns a function that calls `run` at its first call, after each `every` further calls, and every second while the
 * store is full.
 */
export function everyFew<Result>(every: number, run: () => Result): (isFull: boolean) => Result | undefined {
  let calls = 0
  let last = 0
  return function callSometimes(isFull) {
    const time = performance.now()
    if (calls++ % every !== 0 && !(isFull && time - last >= fullInterval)) return undefined
    last = time
    return run()
  }
}

/**
 * Returns the number of claims after which all rows are counted again, which would cost more than a claim. Each process
 * exceeds the limit of keys by 1 % at most.
 */
export const measureInterval = ({ keys }: { keys: number }): number => Math.max(1, Math.floor(keys / 100))
