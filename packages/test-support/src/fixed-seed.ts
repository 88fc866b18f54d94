/** Options of fast-check that repeat the same runs each time; with PROPERTY_RUNS each run has other values. */
export const fixedSeed: { seed?: number } = process.env.PROPERTY_RUNS === undefined ? { seed: 1 } : {}

/** Returns a generator of numbers from 0 to 1, the same for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
