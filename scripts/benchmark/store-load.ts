import { createHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { PlantStore } from '../../src/store/plant-store.ts'

export type StoreFigures = {
  /** Creates per second. */
  rate: number
  /** Latency from the call to the outcome, in milliseconds. */
  p50: number
  p99: number
  /** Event loop delay in milliseconds: the lateness of a 1 ms timer; NaN when the timer never fired. */
  delayP50: number
  delayP99: number
}

export type Ids = () => bigint

/** Creates plants for some seconds with a fixed number in flight. Rejects if a plant is not new. */
export async function load(store: PlantStore, ids: Ids, inFlight: number, seconds: number): Promise<StoreFigures> {
  const latency = createHistogram()
  const resolution = 1
  const delay = monitorEventLoopDelay({ resolution })
  delay.enable()
  const start = performance.now()
  const end = start + 1_000 * seconds
  const lane = async () => {
    for (let now = start; now < end; ) {
      await create(store, ids())
      const answered = performance.now()
      latency.record(Math.max(1, Math.round((answered - now) * 1e6)))
      now = answered
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  const elapsed = performance.now() - start
  delay.disable()
  const late = (percentile: number) =>
    delay.count === 0 ? Number.NaN : Math.max(0, delay.percentile(percentile) / 1e6 - resolution)
  return {
    rate: (1_000 * latency.count) / elapsed,
    p50: latency.percentile(50) / 1e6,
    p99: latency.percentile(99) / 1e6,
    delayP50: late(50),
    delayP99: late(99),
  }
}

/** Creates a number of plants with a fixed number in flight. Rejects if a plant is not new. */
export async function fill(store: PlantStore, ids: Ids, count: number, inFlight = 4_096): Promise<void> {
  let left = count
  const lane = async () => {
    while (left-- > 0) await create(store, ids())
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
}

async function create(store: PlantStore, id: bigint): Promise<void> {
  const outcome = await store.create({ id, name: 'Monstera deliciosa', tag: 'indoor' })
  if (outcome !== 'created') throw new Error(`plant ${id}: ${outcome}`)
}

/** Returns a function that counts up from 1. */
export function sequentialIds(): Ids {
  let last = 0n
  return () => ++last
}

/** Returns a function that returns random ids of 64 bits, which practically never repeat. */
export function randomIds(): Ids {
  const pool = new BigInt64Array(8_192)
  let next = pool.length
  return () => {
    if (next === pool.length) {
      crypto.getRandomValues(pool)
      next = 0
    }
    return pool[next++] as bigint
  }
}
