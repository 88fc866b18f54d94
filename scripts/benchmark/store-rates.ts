import { openStore } from './built-store.ts'
import { fileSystem, syncedAppends } from './disk-sync-times.ts'
import { median } from './statistics.ts'
import { load, type StoreFigures, sequentialIds } from './store-load.ts'
import { row } from './text-table.ts'

const inFlight = [1, 64, 256]

/** Measures stores, by name and URL, and synced appends in `directory` in turns, and prints their rates. */
export async function measureRates(
  urls: Record<string, string>,
  directory: string,
  rounds: number,
  seconds: number,
): Promise<void> {
  const ids = sequentialIds()
  const measured = Object.entries(urls).flatMap(([name, url]) =>
    inFlight.map((count) => ({ name, url, count, figures: [] as (StoreFigures & { appends: number })[] })),
  )
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`)
    for (const { url, count, figures } of measured) {
      const appends = syncedAppends(directory, seconds / 4)
      // A new store each time, because the memory store cannot hold the plants of all rounds.
      const store = await openStore(url)
      await load(store, ids, count, seconds / 10)
      figures.push({ ...(await load(store, ids, count, seconds)), appends })
      await store.close()
    }
  }
  const appends = measured.flatMap(({ figures }) => figures.map((each) => each.appends))
  const [least, middle, most] = [Math.min(...appends), median(appends), Math.max(...appends)].map(Math.round)
  console.log(`${fileSystem(directory)}: ${middle} appends of 4 KiB synced in a second (${least} to ${most})`)
  console.log('loop: the delay of a timer of 1 ms, in ms; its resolution is 1 ms')
  console.log(row(['store', 'in flight', 'creates/s', 'to appends', 'p50 ms', 'p99 ms', 'loop p50', 'loop p99']))
  for (const { name, count, figures } of measured) {
    const of = (figure: (each: StoreFigures & { appends: number }) => number) => median(figures.map(figure))
    const times = (['p50', 'p99', 'delayP50', 'delayP99'] as const).map((key) => inTime(of((each) => each[key])))
    const ratio = of(({ rate, appends }) => rate / appends).toFixed(1)
    console.log(row([name, String(count), of(({ rate }) => rate).toFixed(0), ratio, ...times]))
  }
}

/** Formats a time. It is NaN for the memory store, which never yields to the event loop. */
const inTime = (ms: number) => (Number.isNaN(ms) ? '-' : ms.toFixed(2))
