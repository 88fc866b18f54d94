import type { Dialect } from '../../src/store/postgres/postgres-dialects.ts'
import { openPostgres } from '../../src/store/postgres/postgres-store.ts'
import { median, medianRatio, shuffled } from './statistics.ts'
import { load, type StoreFigures, sequentialIds } from './store-load.ts'
import { row } from './text-table.ts'

const inFlight = [1, 64, 256, 2_048]

/** Measures dialects in turns, and prints their rates and the ratios to the first dialect. */
export async function measureDialects(
  dialects: Record<string, Dialect>,
  database: () => Promise<string>,
  rounds: number,
  seconds: number,
): Promise<void> {
  const ids = sequentialIds()
  const stores = await Promise.all(
    Object.entries(dialects).map(async ([name, dialect]) => {
      const store = await openPostgres(await database(), async () => dialect)
      return { name, store, figures: new Map(inFlight.map((count) => [count, [] as StoreFigures[]])) }
    }),
  )
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`)
    for (const count of inFlight) {
      // A random order, so that no dialect always runs after the same one.
      for (const { store, figures } of shuffled(stores)) {
        await load(store, ids, count, seconds / 10)
        figures.get(count)?.push(await load(store, ids, count, seconds))
      }
    }
  }
  for (const { store } of stores) await store.close()
  console.log(row(['dialect', 'in flight', 'creates/s', 'p50 ms', 'p99 ms', 'ratio']))
  const rates = (figures: Map<number, StoreFigures[]>, count: number) => of(figures, count, 'rate')
  for (const count of inFlight) {
    for (const { name, figures } of stores) {
      const [first] = stores
      const ratio = medianRatio(rates(figures, count), rates(first?.figures ?? figures, count))
      const times = (['p50', 'p99'] as const).map((key) => median(of(figures, count, key)).toFixed(2))
      console.log(row([name, String(count), median(rates(figures, count)).toFixed(0), ...times, ratio.toFixed(2)]))
    }
  }
}

/** Returns a figure of each round. */
const of = (figures: Map<number, StoreFigures[]>, count: number, key: keyof StoreFigures) =>
  (figures.get(count) ?? []).map((each) => each[key])
