import { maskPassword, openForReading, openForWriting } from '../store/open.ts'
import type { PlantReader, PlantStore } from '../store/plant-store.ts'

/** Opens the store of a URL for reading and returns the result of `use`. Rejects with a line that names the URL. */
export const withReader = <Result>(url: string, use: (reader: PlantReader) => Promise<Result>): Promise<Result> =>
  withOpen(openForReading, url, use)

/** Opens the store of a URL for writing and returns the result of `use`. Rejects with a line that names the URL. */
export const withStore = <Result>(url: string, use: (store: PlantStore) => Promise<Result>): Promise<Result> =>
  withOpen(openForWriting, url, use)

async function withOpen<Store extends { close(): Promise<void> }, Result>(
  open: (url: string) => Promise<Store>,
  url: string,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await open(url).catch((error: Error) => {
    throw new Error(`STORE_URL is "${maskPassword(url)}": ${error.message}`, { cause: error })
  })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
