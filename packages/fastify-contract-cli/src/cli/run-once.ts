import { setFlagsFromString } from 'node:v8'

/**
 * By release line of Node.js, the flag that makes V8 wait longer before it optimizes a function. V8 prints a line about a
 * flag that it does not know, so that a line without an entry gets no flags at all.
 */
const lateOptimization: Record<string, string> = {
  20: '--interrupt-budget=1000000',
  22: '--invocation-count-for-turbofan=30000',
  24: '--invocation-count-for-turbofan=30000',
  26: '--invocation-count-for-turbofan=30000',
}

/** The commands that run until they are stopped. */
const services = ['dev', 'mock']

/**
 * Returns the flags of V8 with which a command that ends within seconds needs less time and memory. V8 is tuned for
 * programs that run for long: it optimizes functions that are hardly called again, and lets the heap grow to four times
 * what is in use. With the flags, `generate` in Node.js 20 takes 0.6 times the CPU time for a document of 1.8 MB, and 0.7
 * times the memory for one of 3 MB. V8 reads each flag whenever it uses it, so that it takes effect in a running process.
 * Child processes do not inherit the flags.
 *
 * @param version The version of Node.js, such as 24.3.0.
 */
export function flagsFor(command: string, version: string): string[] {
  const late = lateOptimization[version.split('.', 1)[0] as string]
  return late === undefined || services.includes(command) ? [] : [late, '--heap-growing-percent=50']
}

/**
 * Makes V8 keep the size of the young generation, which would grow to 128 MB in Node.js 24. Call it when the modules of
 * a command are loaded: they have made the young generation as large as the command needs. The limit of that size,
 * --max-semi-space-size, is read only when the process starts.
 */
export function keepYoungGeneration(version: string): void {
  if (flagsFor('generate', version).length > 0) setFlagsFromString('--semi-space-growth-factor=1')
}
