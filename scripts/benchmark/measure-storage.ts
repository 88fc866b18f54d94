import { performance } from 'node:perf_hooks'
import { openStore } from './built-store.ts'
import { median, medianRatio } from './statistics.ts'
import { fill, type Ids, randomIds, sequentialIds } from './store-load.ts'
import type { StoredBytes } from './stored-bytes.ts'
import { row } from './text-table.ts'

/** A new store: its URL, and a function that measures its bytes once it is open. */
export type MeasuredStore = { url: string; measure(): StoredBytes | Promise<StoredBytes> }

type OpenStore = {
  order: string
  create(count: number, inFlight?: number): Promise<void>
  bytes: StoredBytes
  close(): Promise<void>
}

const inFlight = 256
const orders: Record<string, () => Ids> = { sequential: sequentialIds, random: randomIds }

/** Measures and prints the storage cost of plants in each kind of store, by order of ids and number of plants. */
export async function measureStorage(
  kinds: Record<string, () => Promise<MeasuredStore>>,
  sizes: number[],
  rounds: number,
): Promise<void> {
  console.log(
    `WAL: bytes of the write-ahead log for each create; creates/s with ${inFlight} in flight, and their ratio`,
  )
  console.log('to the rate of sequential ids, measured in turns')
  const logs = ['WAL, fill', `WAL, ${inFlight}`, 'WAL, 1']
  console.log(row(['store', 'ids', 'plants', 'bytes/row', ...logs, 'creates/s', 'ratio']))
  for (const [kind, make] of Object.entries(kinds)) {
    for (const size of sizes) {
      const stores: OpenStore[] = []
      try {
        for (const order of Object.keys(orders)) stores.push(await open(order, await make()))
        for (const cells of await measure(stores, size, rounds)) console.log(row([kind, ...cells]))
      } finally {
        for (const store of stores) await store.close()
      }
    }
  }
}

async function open(order: string, { url, measure }: MeasuredStore): Promise<OpenStore> {
  const store = await openStore(url)
  const bytes = await measure()
  const ids = (orders[order] as () => Ids)()
  return {
    order,
    bytes,
    create: (count, lanes) => fill(store, ids, count, lanes),
    async close() {
      await bytes.close()
      await store.close()
    },
  }
}

/** Fills the stores up to `size` plants and measures them. Returns the cells of a row for each store. */
async function measure(stores: OpenStore[], size: number, rounds: number): Promise<string[][]> {
  const part = (divisor: number, most: number) => Math.max(100, Math.min(most, Math.floor(size / divisor)))
  const [many, few] = [part(50, 20_000), part(500, 1_000)]
  const cells: string[][] = []
  for (const { order, create, bytes } of stores) {
    const before = await bytes.logSize()
    await create(size)
    const after = await bytes.logSize()
    const filling = after === undefined || before === undefined ? undefined : (after - before) / size
    const perRow = (await bytes.size()) / size
    const together = (await bytes.loggedAfterCheckpoint(() => create(many, inFlight))) / many
    const alone = (await bytes.loggedAfterCheckpoint(() => create(few, 1))) / few
    cells.push([order, String(size), ...[perRow, filling, together, alone].map((figure) => figure?.toFixed(0) ?? '-')])
    console.error(`${order} ids: ${size} plants`)
  }
  const rates = stores.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, { create }] of stores.entries()) {
      const start = performance.now()
      await create(many, inFlight)
      rates[index]?.push((1_000 * many) / (performance.now() - start))
    }
  }
  return cells.map((each, index) => {
    const [own, reference] = [rates[index] as number[], rates[0] as number[]]
    return [...each, median(own).toFixed(0), medianRatio(own, reference).toFixed(2)]
  })
}
