import { performance } from 'node:perf_hooks'
import { openStore } from './built-store.ts'
import { median } from './statistics.ts'
import { fill, load, randomIds, sequentialIds } from './store-load.ts'
import { row } from './text-table.ts'

const few = 10_000
const sizes = [1_000_000, 10_000_000]
const inFlight = 256
const orders = { sequential: sequentialIds, random: randomIds }

/**
 * Measures large stores in turns with a new store of ten thousand plants, and prints the rates. `stores` maps a name to
 * a function that creates an empty store and returns its URL.
 */
export async function measureGrowth(
  stores: Record<string, () => Promise<string>>,
  rounds: number,
  seconds: number,
): Promise<void> {
  console.log(`creates/s with ${inFlight} in flight`)
  console.log(row(['store', 'ids', 'plants', 'creates/s', `with ${few}`, 'ratio']))
  for (const [name, make] of Object.entries(stores)) {
    for (const [order, newIds] of Object.entries(orders)) {
      const open = async () => {
        const store = await openStore(await make())
        const ids = newIds()
        const rate = async () => (await load(store, ids, inFlight, seconds)).rate
        return { rate, fill: (count: number) => fill(store, ids, count), close: () => store.close() }
      }
      const grown = await open()
      let plants = 0
      for (const size of sizes) {
        const start = performance.now()
        await grown.fill(size - plants)
        plants = size
        console.error(
          `${name}, ${order} ids: filled to ${size} in ${Math.round((performance.now() - start) / 1_000)} s`,
        )
        const rates: number[] = []
        const ratesOfFew: number[] = []
        for (let round = 0; round < rounds; round++) {
          const fresh = await open()
          await fresh.fill(few)
          ratesOfFew.push(await fresh.rate())
          await fresh.close()
          rates.push(await grown.rate())
        }
        const [rate, ofFew] = [median(rates), median(ratesOfFew)]
        console.log(row([name, order, String(size), rate.toFixed(0), ofFew.toFixed(0), (rate / ofFew).toFixed(2)]))
      }
      await grown.close()
    }
  }
}
