import { openAtomicFile } from 'fastify-contract/files'
import { openForReading } from '../store/open.ts'
import type { PlantReader, StoredPlant } from '../store/plant-store.ts'
import { formatPlantLine } from './plant-line.ts'
import { progressBar, type Terminal, writeText } from './terminal.ts'

const [least, greatest] = [-(2n ** 63n), 2n ** 63n - 1n]

/** The most plants of one query. A server may cancel queries that take seconds. */
const pageLength = 1_000

/**
 * Writes all plants to a file, which gets its name when it is complete and synced, or to standard output. Resolves with
 * the exit code.
 */
export async function exportPlants(
  path: string | undefined,
  { storeUrl }: { storeUrl: string },
  terminal: Terminal,
): Promise<number> {
  const { stdout } = terminal
  const reader = await openForReading(storeUrl)
  try {
    if (path === undefined) {
      await writePlants(reader, terminal, (text) => writeText(stdout, text))
      return 0
    }
    const file = await openAtomicFile(path)
    try {
      const plants = await writePlants(reader, terminal, file.write)
      await file.finish()
      await writeText(stdout, `${plants} plants are in ${path}\n`)
    } finally {
      await file.close()
    }
    return 0
  } finally {
    await reader.close()
  }
}

/** Writes a line for each plant. Resolves with the number of plants. */
async function writePlants(
  reader: PlantReader,
  { stderr, interrupt }: Terminal,
  write: (text: string) => Promise<void>,
): Promise<number> {
  const bar = progressBar(stderr)
  try {
    let written = 0
    for await (const page of pagesOf(reader, interrupt)) {
      await write(page.map(formatPlantLine).join(''))
      written += page.length
      bar.update(written)
    }
    return written
  } finally {
    bar.end()
  }
}

/**
 * Yields all plants in the order of their ids, in pages of bounded size. Throws an AbortError when `interrupt` is
 * aborted.
 */
export async function* pagesOf(reader: PlantReader, interrupt: AbortSignal): AsyncGenerator<StoredPlant[]> {
  for (let next = least; next <= greatest; ) {
    interrupt.throwIfAborted()
    const page = await reader.list(next, pageLength)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    next = last.id + 1n
  }
}
