import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Collects all garbage. Otherwise memory in use contains an amount that depends on when V8 last collected it. */
export const collectGarbage: () => void = runInNewContext('gc')

/** Returns the number of heap bytes in use, after a garbage collection. */
export function heapInUse(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
