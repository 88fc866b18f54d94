/** Options of fast-check that repeat the same runs each time; with PROPERTY_RUNS each run has other values. */
export const fixedSeed: { seed?: number } = process.env.PROPERTY_RUNS === undefined ? { seed: 1 } : {}
